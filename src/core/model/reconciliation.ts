import * as v from 'valibot'

/** `reconciliation.json` (CONTRACT section 3). Numbers of any size are decimal text. */
export type Reconciliation = v.InferOutput<typeof RECONCILIATION>

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const textOrNull = v.nullable(v.string())
/** `accepted` of the `different` ones do not count as errors. */
const kind = v.object({ compared: count, different: count, accepted: v.optional(count, 0) })

const RECONCILIATION = v.object({
  reconciliationVersion: v.literal(1),
  /** ISO time. */
  time: v.pipe(v.string(), v.isoTimestamp()),
  /** SHA-256 of the manifest whose ledger was compared. With any other manifest, the verdict is out of date. */
  manifestSha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  ok: v.boolean(),
  block: count,
  /** `exported`: wallets of the export. `unchanged` ones agreed in an earlier verdict and were not compared again. */
  wallets: v.object({
    exported: count,
    selected: count,
    compared: count,
    nativeReconciled: count,
    reconciled: count,
    unchanged: v.optional(count, 0),
  }),
  balances: v.object({ native: kind, erc20: kind, erc721: kind, erc1155: kind }),
  /** Kinds of assets that were not compared, and why. */
  skipped: v.array(v.object({ kind: v.string(), why: v.string(), wallets: count })),
  genesisWallets: count,
  requests: count,
  /**
   * What the service reports that wallets held after the block before `before_block`, their first one (or at genesis);
   * absent in verdicts of older versions.
   */
  opening: v.optional(
    v.array(
      v.object({
        wallet_address: v.string(),
        asset_type: v.string(),
        asset_address: textOrNull,
        token_id: textOrNull,
        value: v.pipe(v.string(), v.regex(/^\d{1,78}$/)),
        before_block: count,
      }),
    ),
    [],
  ),
  /**
   * SHA-256 of the files of the user that the compared sums contain: opening balances and adjustments. Books without these
   * files were not compared.
   */
  files: v.optional(v.object({ opening: v.optional(v.string()), adjustments: v.optional(v.string()) }), {}),
  /** A hash of the ledger sums with which each wallet agreed, by address; absent in verdicts of older versions. */
  reconciled: v.optional(v.record(v.string(), v.string()), {}),
  /** At most 1000 of the differences. */
  differences: v.array(
    v.object({
      wallet_address: v.string(),
      wallet_label: textOrNull,
      asset_type: v.string(),
      asset_address: textOrNull,
      asset_symbol: textOrNull,
      token_id: textOrNull,
      ledger_value: v.string(),
      service_value: v.string(),
      difference: v.string(),
      likely_cause: textOrNull,
    }),
  ),
})

/** Returns parsed JSON as a verdict; undefined if it is none. */
export function toReconciliation(value: unknown): Reconciliation | undefined {
  const { success, output } = v.safeParse(RECONCILIATION, value)
  return success ? output : undefined
}
