"""Fetches a quote. Told that it asks too often, it asks again, and again."""
import sys
import time
import urllib.error
import urllib.request

while True:
    try:
        with urllib.request.urlopen("https://quotes.example.test/", timeout=1) as answer:
            print(answer.read().decode())
            break
    except urllib.error.HTTPError as error:
        if error.code != 429:
            sys.exit("no quote: %s" % error)
        time.sleep(0.2)
    except OSError as error:
        sys.exit("no quote: %s" % error)
    except Exception as error:
        sys.exit("no quote: %r" % error)
