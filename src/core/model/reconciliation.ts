import * as v from 'valibot'

/** `reconciliation.json` (CONTRACT section 3). Numbers of any size are decimal text. */
export type Reconciliation = v.InferOutput<typeof RECONCILIATION>

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const textOrNull = v.nullable(v.string())
const kind = v.object({ compared: count, different: count })

const RECONCILIATION = v.object({
  reconciliationVersion: v.literal(1),
  /** ISO time. */
  time: v.pipe(v.string(), v.isoTimestamp()),
  /** SHA-256 of the manifest whose ledger was compared. With any other manifest, the verdict is out of date. */
  manifestSha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  ok: v.boolean(),
  block: count,
  /** `exported`: wallets of the export. */
  wallets: v.object({
    ...{ exported: count, selected: count, compared: count, nativeReconciled: count, reconciled: count },
  }),
  balances: v.object({ native: kind, erc20: kind, erc721: kind, erc1155: kind }),
  /** Kinds of assets that were not compared, and why. */
  skipped: v.array(v.object({ kind: v.string(), why: v.string(), wallets: count })),
  genesisWallets: count,
  requests: count,
  /** At most 1000 of the differences. */
  differences: v.array(
    v.object({
      ...{ wallet_address: v.string(), wallet_label: textOrNull, asset_type: v.string() },
      ...{ asset_address: textOrNull, asset_symbol: textOrNull, token_id: textOrNull },
      ...{ ledger_value: v.string(), service_value: v.string(), difference: v.string() },
      likely_cause: textOrNull,
    }),
  ),
})

/** Whether parsed JSON is a verdict. */
export function isReconciliation(value: unknown): value is Reconciliation {
  return v.is(RECONCILIATION, value)
}
