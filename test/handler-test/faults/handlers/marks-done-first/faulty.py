"""Notes that the mail is sent, then sends it. Killed between the two, it is never sent."""
import os
import sys
import urllib.request

mark = os.path.join(os.environ["JOBQ_OUTPUT_DIR"], "sent")
if not os.path.exists(mark):
    open(mark, "x").close()
    request = urllib.request.Request(
        "https://mail.example.test/send",
        data=b"hello",
        headers={"Idempotency-Key": os.environ["JOBQ_JOB_ID"]},
    )
    try:
        urllib.request.urlopen(request, timeout=1).close()
    except OSError as error:
        os.remove(mark)
        sys.exit("the mail was not sent: %s" % error)
print("sent")
