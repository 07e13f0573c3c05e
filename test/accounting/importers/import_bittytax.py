"""Imports the file argv[1] with BittyTax. Prints the balance of each wallet and asset."""

import contextlib
import sys

from bittytax.audit import AuditRecords
from bittytax.import_records import ImportRecords

with contextlib.redirect_stdout(sys.stderr), open(sys.argv[1], encoding="utf-8") as file:
    records = ImportRecords()
    records.import_csv(file)
    audit = AuditRecords(records.get_records())
assert records.failure_cnt == 0, records.failure_cnt
for assets in audit.wallets.values():
    for balance in assets.values():
        print(f"{balance:f}")
