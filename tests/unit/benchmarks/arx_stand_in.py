"""A stand-in for ARX: the classes and methods that our driver uses, under their names and with their signatures, and a behaviour that is counted by hand.

Signatures were compared with the source of ARX 3.9.1 (commit f64b3da of arx-deidentifier/arx): `ARXAnonymizer`, `ARXConfiguration`, `ARXResult`,
`AttributeType`, `Data`, `DataDefinition`, `AverageReidentificationRisk`, `Metric`, `RollbackRequiredException`, and what `DataHandleInput` overrides of
`DataHandle`. Those of `DataHandle.release`, `DataType`, `KAnonymity`, `StatisticsBuilder`, `StatisticsQuality` and `QualityMeasureColumnOriented` were
compared with the releases of 2018 only (3.7), whose form the examples of 3.9 still use.

Behaviour: `anonymize` suppresses all quasi-identifiers of every record of a class below k, as ARX's first pass does. Local recoding opens them again but for the
last one; under an average risk, but for the first and the last one. Settings other than those of the reference figures are refused.
"""

from __future__ import annotations

ENTROPY = "0.914479"

SOURCES = {
    "ARXAnonymizer": """
        public class ARXAnonymizer {
            public static final String VERSION = "3.9.1";
            public ARXAnonymizer() {}
            public ARXResult anonymize(final Data data, ARXConfiguration config) throws java.io.IOException {
                if (config.used) throw new IllegalStateException("a configuration is used twice");
                if (data.handle.locked) throw new RuntimeException("This data handle is locked. Please release it first");
                if (config.limit != 0.99 || config.metric.gsFactor != 0) throw new IllegalStateException("other settings");
                config.used = true;
                data.handle.locked = true;
                return new ARXResult(data, config);
            }
        }""",
    "ARXConfiguration": """
        import org.deidentifier.arx.criteria.*;
        import org.deidentifier.arx.metric.Metric;
        public class ARXConfiguration {
            int k = 1; boolean average = false; double limit = 0; Metric<?> metric = null; boolean used = false;
            private ARXConfiguration() {}
            public static ARXConfiguration create() { return new ARXConfiguration(); }
            public ARXConfiguration addPrivacyModel(PrivacyCriterion c) {
                if (c instanceof KAnonymity) k = ((KAnonymity) c).getK();
                else if (((AverageReidentificationRisk) c).getAverageRisk() == 0.2) average = true;
                else throw new IllegalArgumentException("another average risk");
                return this;
            }
            public void setQualityModel(Metric<?> model) { metric = model; }
            public void setSuppressionLimit(double limit) { this.limit = limit; }
        }""",
    "ARXProcessStatistics": "public class ARXProcessStatistics {}",
    "ARXResult": """
        import java.util.*;
        import org.deidentifier.arx.exceptions.RollbackRequiredException;
        public class ARXResult {
            private final Data data; private final ARXConfiguration config; private final List<Integer> qis = new ArrayList<>();
            private final Set<Integer> outliers = new TreeSet<>();
            ARXResult(Data data, ARXConfiguration config) {
                this.data = data; this.config = config;
                for (int column = 0; column < data.handle.getNumColumns(); column++) {
                    AttributeType type = data.getDefinition().types.get(data.handle.getAttributeName(column));
                    if (type == null) throw new IllegalStateException("a column is not declared");
                    if (type instanceof AttributeType.Hierarchy) qis.add(column);
                }
                Map<List<String>, List<Integer>> classes = new HashMap<>();
                for (int row = 0; row < data.handle.getNumRows(); row++) {
                    List<String> key = new ArrayList<>();
                    for (int column : qis) {
                        String value = data.handle.getValue(row, column);
                        AttributeType type = data.getDefinition().types.get(data.handle.getAttributeName(column));
                        if (!((AttributeType.Hierarchy.DefaultHierarchy) type).values.contains(value))
                            throw new IllegalStateException("a value has no level");
                        key.add(value);
                    }
                    classes.computeIfAbsent(key, none -> new ArrayList<>()).add(row);
                }
                for (List<Integer> rows : classes.values()) if (rows.size() < config.k) outliers.addAll(rows);
            }
            public DataHandle getOutput() {
                DataHandle output = data.handle.copy();
                for (int row : outliers) for (int column : qis) output.rows.get(row)[column] = DataType.ANY_VALUE;
                return output;
            }
            public boolean isOptimizable(DataHandle handle) { return !outliers.isEmpty(); }
            public ARXProcessStatistics optimizeIterativeFast(DataHandle handle, double records) throws RollbackRequiredException {
                if (records != 0.01) throw new IllegalArgumentException("another share of records");
                for (int row : outliers) for (int place = 0; place < qis.size() - 1; place++)
                    if (place > 0 || !config.average)
                        handle.rows.get(row)[qis.get(place)] = data.handle.getValue(row, qis.get(place));
                return new ARXProcessStatistics();
            }
        }""",
    "AttributeType": """
        import java.util.*;
        public class AttributeType {
            public static AttributeType INSENSITIVE_ATTRIBUTE = new AttributeType();
            private AttributeType() {}
            public static abstract class Hierarchy extends AttributeType {
                public static DefaultHierarchy create() { return new DefaultHierarchy(); }
                public static class DefaultHierarchy extends Hierarchy {
                    final Set<String> values = new HashSet<>();
                    public void add(final String... row) {
                        if (row.length != 2 || !"*".equals(row[1])) throw new IllegalArgumentException("other levels");
                        values.add(row[0]);
                    }
                }
            }
        }""",
    "Data": """
        import java.io.IOException;
        import java.nio.charset.Charset;
        import java.nio.file.*;
        public abstract class Data {
            DataHandle handle; private final DataDefinition definition = new DataDefinition();
            public static Data create(final String path, final Charset charset, final char delimiter) throws IOException {
                Data data = new Data() {};
                data.handle = new DataHandle();
                for (String line : Files.readAllLines(Paths.get(path), charset)) data.handle.rows.add(line.split(String.valueOf(delimiter)));
                data.handle.header = data.handle.rows.remove(0);
                return data;
            }
            public DataDefinition getDefinition() { return definition; }
            public DataHandle getHandle() { return handle; }
        }""",
    "DataDefinition": """
        import java.util.*;
        public class DataDefinition {
            final Map<String, AttributeType> types = new HashMap<>();
            public void setAttributeType(final String attribute, final AttributeType type) { types.put(attribute, type); }
        }""",
    "DataHandle": """
        import java.util.*;
        import org.deidentifier.arx.aggregates.StatisticsBuilder;
        public class DataHandle {
            String[] header; final List<String[]> rows = new ArrayList<>(); boolean locked = false;
            DataHandle copy() {
                DataHandle other = new DataHandle();
                other.header = header;
                for (String[] row : rows) other.rows.add(row.clone());
                return other;
            }
            public String getAttributeName(int col) { return header[col]; }
            public final String[] getDistinctValues(int column) {
                Set<String> found = new TreeSet<>();
                for (String[] row : rows) found.add(row[column]);
                return found.toArray(new String[0]);
            }
            public int getNumColumns() { return header.length; }
            public int getNumRows() { return rows.size(); }
            public StatisticsBuilder getStatistics() { return new StatisticsBuilder(); }
            public String getValue(int row, int col) { return rows.get(row)[col]; }
            public void release() { locked = false; }
        }""",
    "DataType": """
        public abstract class DataType<T> { public static final String ANY_VALUE = "*"; }""",
    "aggregates.StatisticsBuilder": """
        public class StatisticsBuilder { public StatisticsQuality getQualityStatistics() { return new StatisticsQuality(); } }""",
    "aggregates.StatisticsQuality": """
        import org.deidentifier.arx.aggregates.quality.QualityMeasureColumnOriented;
        public class StatisticsQuality {
            public QualityMeasureColumnOriented getNonUniformEntropy() { return new QualityMeasureColumnOriented(); }
        }""",
    "aggregates.quality.QualityMeasureColumnOriented": f"""
        public class QualityMeasureColumnOriented {{
            public double getArithmeticMean(boolean normalizeBeforeAggregation) {{
                return normalizeBeforeAggregation ? Double.NaN : {ENTROPY};
            }}
        }}""",
    "criteria.PrivacyCriterion": "public abstract class PrivacyCriterion {}",
    "criteria.AverageReidentificationRisk": """
        public class AverageReidentificationRisk extends PrivacyCriterion {
            private final double risk;
            public AverageReidentificationRisk(double riskThreshold) { risk = riskThreshold; }
            public double getAverageRisk() { return risk; }
        }""",
    "criteria.KAnonymity": """
        public class KAnonymity extends PrivacyCriterion {
            private final int k;
            public KAnonymity(int k) { this.k = k; }
            public int getK() { return k; }
        }""",
    "exceptions.RollbackRequiredException": "public class RollbackRequiredException extends Exception {}",
    "metric.InformationLoss": "public abstract class InformationLoss<T> {}",
    "metric.Metric": """
        import org.deidentifier.arx.metric.v2.AbstractILMultiDimensional;
        public abstract class Metric<T extends InformationLoss<?>> {
            public double gsFactor;
            public static Metric<AbstractILMultiDimensional> createLossMetric(double gsFactor) {
                Metric<AbstractILMultiDimensional> made = new Metric<AbstractILMultiDimensional>() {};
                made.gsFactor = gsFactor;
                return made;
            }
        }""",
    "metric.v2.AbstractILMultiDimensional": """
        import org.deidentifier.arx.metric.InformationLoss;
        public abstract class AbstractILMultiDimensional extends InformationLoss<double[]> {}""",
}
"""Source of each class by its name below `org.deidentifier.arx`, without its package."""
