"""Reads the files in the folder argv[1] with dali's manual plugin, writes rp2's input there, and reads that with rp2.

Prints the balance of each account and asset, which is exact in dali. rp2 reads floating-point numbers with 11 decimals.
Then runs rp2's tax engine (FIFO) and its balances, which must be positive, and prints `rejected ASSET` for each asset that it
stops at.
"""

import logging
import os
import sys
from collections import defaultdict
from decimal import Decimal

os.chdir(sys.argv[1])  # rp2 creates a folder for logs in the working directory.

from dali.configuration import DEFAULT_CONFIGURATION, Keyword
from dali.configuration_generator import generate_configuration_file
from dali.in_transaction import InTransaction
from dali.intra_transaction import IntraTransaction
from dali.ods_generator import generate_input_file
from dali.plugin.input.csv.manual import InputPlugin
from dali.transaction_resolver import resolve_transactions
from prezzemolo.avl_tree import AVLTree
from rp2.accounting_engine import AccountingEngine
from rp2.balance import BalanceSet
from rp2.configuration import MAX_DATE, Configuration
from rp2.ods_parser import open_ods, parse_ods
from rp2.plugin.accounting_method.fifo import AccountingMethod
from rp2.plugin.country.us import US
from rp2.rp2_error import RP2ValueError
from rp2.tax_engine import compute_tax

logging.disable(logging.WARNING)
settings = {**DEFAULT_CONFIGURATION, Keyword.NATIVE_FIAT.value: "USD", Keyword.HISTORICAL_PAIR_CONVERTERS.value: []}
read = InputPlugin("in.csv", "out.csv", "intra.csv", "USD").load(US())
resolved = resolve_transactions(read, settings, False)
assert len(resolved) == len(read)

balances = defaultdict(Decimal)
tolerances = defaultdict(Decimal)


def move(account, asset, amount):
    balances[account, asset] += Decimal(amount)
    tolerances[account, asset] += abs(Decimal(amount)) * Decimal("2e-16") + Decimal("1e-11")


for one in resolved:
    if isinstance(one, InTransaction):
        move(one.exchange, one.asset, one.crypto_in)
    elif isinstance(one, IntraTransaction):
        move(one.from_exchange, one.asset, "-" + one.crypto_sent)
        move(one.to_exchange, one.asset, one.crypto_received)
    else:
        move(one.exchange, one.asset, "-" + one.crypto_out_no_fee)
        move(one.exchange, one.asset, "-" + one.crypto_fee)

generate_configuration_file(".", "", "rp2.ini", resolved, settings)
generate_input_file(".", "", "rp2.ods", resolved, settings)
configuration = Configuration("rp2.ini", US(), allow_negative_balances=True)
sheets = open_ods(configuration, "rp2.ods")
# rp2 rejects an asset that was sent but never received: the history is incomplete.
received = {one.asset for one in resolved if isinstance(one, InTransaction)}
for asset in received:
    for found in BalanceSet(configuration, parse_ods(configuration, asset, sheets), MAX_DATE):
        account = (found.exchange, asset)
        difference = abs(Decimal(str(found.final_balance)) - balances[account])
        assert difference <= tolerances[account], (account, found.final_balance, balances[account])
        print(f"{balances.pop(account):f}")
for (_, asset), balance in balances.items():
    assert asset not in received, asset
    print(f"{balance:f}")

strict = Configuration("rp2.ini", US(), allow_negative_balances=False)
methods = AVLTree()
methods.insert_node(1970, AccountingMethod())
for asset in sorted({one.asset for one in resolved}):
    try:
        data = parse_ods(strict, asset, sheets)
        compute_tax(strict, AccountingEngine(years_2_methods=methods), data)
        BalanceSet(strict, data, MAX_DATE)
    except RP2ValueError:
        print(f"rejected {asset}")
