"""Sends the mail, then notes that it is sent. A repeat has the same key."""
import os
import sys
import urllib.request

mark = os.path.join(os.environ["JOBQ_OUTPUT_DIR"], "sent")
if not os.path.exists(mark):
    request = urllib.request.Request(
        "https://mail.example.test/send",
        data=b"hello",
        headers={"Idempotency-Key": os.environ["JOBQ_JOB_ID"]},
    )
    try:
        urllib.request.urlopen(request, timeout=1).close()
    except OSError as error:
        sys.exit("the mail was not sent: %s" % error)
    open(mark, "x").close()
print("sent")
