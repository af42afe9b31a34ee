"""Earlier releases with which a release is audited together."""
