import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.AttributeType.Hierarchy.DefaultHierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.DataType;
import org.deidentifier.arx.criteria.AverageReidentificationRisk;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.exceptions.RollbackRequiredException;
import org.deidentifier.arx.metric.Metric;

/**
 * Cell suppression by ARX as its authors evaluate it (Prasser et al. 2019): two levels a column (the value, then {@code *}), a loss metric
 * that prefers suppression, then local recoding of the records left, at least 1 % of the file a step.
 *
 * <p>Run by {@code benchmarks/arx.py} through Java's launcher of single source files:
 * {@code java -cp JARS ArxCellSuppression.java FILE DELIMITER QIS K AVERAGE WARM ENTROPY}. FILE has a heading and its first QIS columns are
 * quasi-identifiers; AVERAGE is the limit of the average risk, {@code -} for none; WARM is the number of runs after the first one; ENTROPY is
 * {@code yes} or {@code no}. Prints one line of JSON: ARX's version, records, suppressed cells of the quasi-identifiers, CPU seconds of this
 * thread (reading, compiling and collecting garbage are not in it) of the first run and of each warm one, and the non-uniform entropy kept.
 *
 * <p>Written for the signatures of ARX 3.9.1; releases that do not state their version in {@code ARXAnonymizer.VERSION} do not compile here.
 */
public final class ArxCellSuppression {
    private static final double SHARE_OF_A_STEP = 0.01;
    private static final double PREFER_SUPPRESSION = 0.0;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final Data data;
    private final int qis;
    private final int k;
    private final String average;

    private ArxCellSuppression(Data data, int qis, int k, String average) {
        this.data = data;
        this.qis = qis;
        this.k = k;
        this.average = average;
    }

    /** Declares every column: a hierarchy of two levels for a quasi-identifier, insensitive otherwise. */
    private void declare() {
        DataHandle input = data.getHandle();
        for (int column = 0; column < input.getNumColumns(); column++) {
            AttributeType type = column < qis ? twoLevels(input, column) : AttributeType.INSENSITIVE_ATTRIBUTE;
            data.getDefinition().setAttributeType(input.getAttributeName(column), type);
        }
    }

    private static Hierarchy twoLevels(DataHandle input, int column) {
        DefaultHierarchy levels = Hierarchy.create();
        for (String value : input.getDistinctValues(column)) {
            if (DataType.ANY_VALUE.equals(value)) {
                throw new IllegalArgumentException("column " + (column + 1) + " holds the mark of suppressed cells");
            }
            levels.add(value, DataType.ANY_VALUE);
        }
        return levels;
    }

    /** The privacy models and the quality model; an object of its own for every run, since a run changes it. */
    private ARXConfiguration configuration() {
        ARXConfiguration wanted = ARXConfiguration.create();
        wanted.addPrivacyModel(new KAnonymity(k));
        if (!"-".equals(average)) {
            wanted.addPrivacyModel(new AverageReidentificationRisk(Double.parseDouble(average)));
        }
        wanted.setQualityModel(Metric.createLossMetric(PREFER_SUPPRESSION));
        wanted.setSuppressionLimit(1 - SHARE_OF_A_STEP);
        return wanted;
    }

    private DataHandle suppressed() throws IOException, RollbackRequiredException {
        ARXResult result = new ARXAnonymizer().anonymize(data, configuration());
        DataHandle output = result.getOutput();
        if (output == null) {
            throw new IllegalStateException("ARX found no solution");
        }
        if (result.isOptimizable(output)) {
            result.optimizeIterativeFast(output, SHARE_OF_A_STEP);
        }
        return output;
    }

    private long cells(DataHandle output) {
        long found = 0;
        for (int row = 0; row < output.getNumRows(); row++) {
            for (int column = 0; column < qis; column++) {
                if (DataType.ANY_VALUE.equals(output.getValue(row, column))) {
                    found++;
                }
            }
        }
        return found;
    }

    public static void main(String[] arguments) throws IOException, RollbackRequiredException {
        Data data = Data.create(arguments[0], StandardCharsets.UTF_8, arguments[1].charAt(0));
        int qis = Integer.parseInt(arguments[2]);
        ArxCellSuppression driver = new ArxCellSuppression(data, qis, Integer.parseInt(arguments[3]), arguments[4]);
        driver.declare();

        List<String> seconds = new ArrayList<>();
        long records = 0;
        long cells = 0;
        String entropy = "null";
        for (int run = 0; run <= Integer.parseInt(arguments[5]); run++) {
            if (run > 0) {
                data.getHandle().release(); // the result before: a file in use cannot be anonymised again
            }
            long before = THREADS.getCurrentThreadCpuTime();
            DataHandle output = driver.suppressed();
            seconds.add(String.format(Locale.ROOT, "%.6f", (THREADS.getCurrentThreadCpuTime() - before) / 1e9));
            long found = driver.cells(output);
            if (run > 0 && found != cells) {
                throw new IllegalStateException("run " + run + " suppressed " + found + " cells, the one before " + cells);
            }
            records = output.getNumRows();
            cells = found;
            if (run == 0 && "yes".equals(arguments[6])) {
                double kept = output.getStatistics().getQualityStatistics().getNonUniformEntropy().getArithmeticMean(false);
                entropy = Double.isNaN(kept) ? "null" : String.format(Locale.ROOT, "%.6f", kept);
            }
        }
        System.out.printf(
            Locale.ROOT,
            "{\"version\": \"%s\", \"records\": %d, \"cells\": %d, \"first\": %s, \"warm\": [%s], \"entropy\": %s}%n",
            ARXAnonymizer.VERSION,
            records,
            cells,
            seconds.get(0),
            String.join(", ", seconds.subList(1, seconds.size())),
            entropy);
    }
}
