"""Posts the day's figures to a chat, from cron: 0 7 * * * python daily.py"""

import json
import os
import urllib.request

from retention import Retention

url, key = os.environ["RETENTION_URL"], os.environ["RETENTION_API_KEY"]
summary = Retention(base_url=url, key=key).get_metrics_summary()

text = "\n".join(
    [
        f"{summary['mrr']:,} {summary['currency']} MRR, "
        f"{summary['activeSubscribers']} active subscribers",
        f"{summary['churnRate30d']:.2%} churn in 30 days, "
        f"{summary['dunningActive']} payments outstanding",
    ]
)
request = urllib.request.Request(
    os.environ["WEBHOOK_URL"],
    data=json.dumps({"text": text}).encode(),
    headers={"content-type": "application/json"},
)
urllib.request.urlopen(request, timeout=10).close()
