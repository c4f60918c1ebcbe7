"""Signs a text with a secret, or does without where there is none."""
import os

print("signed with", len(os.environ.get("JOBQ_FAULTS_SECRET", "")), "characters")
