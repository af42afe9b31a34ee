"""Rules between the parts of a policy that is well formed: one file a topic or kind of release."""
