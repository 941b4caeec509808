"""A nightly pull: python3 pull.py <base URL> <API key> <file of SQLite>."""

import datetime
import json
import sqlite3
import sys
import urllib.parse
import urllib.request

base_url, api_key, file = sys.argv[1:]
db = sqlite3.connect(file)

for name in ["accounts", "products"]:
    db.execute(f"create table if not exists {name} (id text primary key, name text, sale_price real, updated_at text)")
    since = db.execute(f"select max(updated_at) from {name}").fetchone()[0]
    page = 1
    while True:
        query = {"_page": page}
        if since:
            # A second more, because the last one would come again each night.
            newer = datetime.datetime.fromisoformat(since.replace("Z", "+00:00")) + datetime.timedelta(seconds=1)
            query["updatedSince"] = newer.isoformat()
        url = f"{base_url}/api/public/v1/{name}?{urllib.parse.urlencode(query)}"
        request = urllib.request.Request(url, headers={"X-AUTH-TOKEN": api_key})
        records = json.load(urllib.request.urlopen(request))
        for record in records:
            amount = record.get("salePrice") or record.get("creditLimit")
            price = None if amount is None else float(amount)
            row = (record["id"], record["name"].strip(), price, record["updatedAt"])
            db.execute(f"insert or replace into {name} values (?, ?, ?, ?)", row)
        db.commit()
        if len(records) < 5:
            break
        page += 1
