"""Signs a text with a secret that only the developer's shell has."""
import os

print("signed with", len(os.environ["JOBQ_FAULTS_SECRET"]), "characters")
