"""Remembers it in the job's own directory, which survives retries."""
import os

target = os.path.join(os.environ["JOBQ_OUTPUT_DIR"], "done")
with open(target + ".part", "w") as file:
    file.write(os.environ["JOBQ_JOB_ID"] + "\n")
os.replace(target + ".part", target)
print("done")
