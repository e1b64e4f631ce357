"""Writes all subscriptions as CSV: python export.py > subscriptions.csv"""

import csv
import os
import signal
import sys

from retention import Retention

# At the limit of requests it waits as long as the service says, and goes on.
retention = Retention(
    base_url=os.environ["RETENTION_URL"],
    key=os.environ["RETENTION_API_KEY"],
    max_retries=10,
)

# As when it is piped to head, which reads no more. Windows has no such signal.
if hasattr(signal, "SIGPIPE"):
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)

columns = ["subscriptionId", "customerId", "status", "planName", "currentPrice"]
writer = csv.DictWriter(sys.stdout, columns, extrasaction="ignore")
writer.writeheader()
for subscription in retention.list_subscriptions():
    writer.writerow(subscription)
