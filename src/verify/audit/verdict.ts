import type { BlockFindings } from './compare-block.ts'

export type AuditVerdict = {
  /** True if no transaction is missing, surplus or differing. */
  ok: boolean
  /** Blocks that the service listed. */
  blocks: number
  /** Blocks that the service does not know (404). Their transactions were not compared. */
  unknownBlocks: number
  /** Exported transactions that were compared field by field with a listed one. */
  compared: number
  /** Transactions that are listed from or to a wallet, but not exported, or not for that wallet. */
  missing: number
  /** Transactions that are exported from or to a wallet, but not listed in their block. */
  surplus: number
  /** Transactions that differ in sender, receiver, value, index, block hash or block time. */
  differing: number
  /** Listed entries without a hash, which cannot be compared. */
  unreadable: number
  /** One line per problem; at most 50, then `and N more`. */
  problems: readonly string[]
}

export type VerdictBuilder = {
  add(block: number, findings: BlockFindings & { unreadable: number }): void
  addUnknown(): void
  build(): AuditVerdict
}

const MAX_LISTED = 50

/** Creates a builder that accumulates the findings of all blocks. */
export function createVerdictBuilder(): VerdictBuilder {
  const counts = { blocks: 0, unknownBlocks: 0, compared: 0, missing: 0, surplus: 0, differing: 0 }
  let unreadable = 0
  const listed: string[] = []
  return {
    add(block, findings) {
      counts.blocks += 1
      counts.compared += findings.compared
      unreadable += findings.unreadable
      for (const kind of ['missing', 'surplus', 'differing'] as const) {
        counts[kind] += findings[kind].length
        for (const { hash, description } of findings[kind].slice(0, MAX_LISTED - listed.length))
          listed.push(`block ${block}: ${kind}: transaction ${hash}: ${description}`)
      }
    },
    addUnknown() {
      counts.unknownBlocks += 1
    },
    build() {
      const problemCount = counts.missing + counts.surplus + counts.differing
      const more = problemCount > listed.length ? [`and ${problemCount - listed.length} more`] : []
      return { ok: problemCount === 0, ...counts, unreadable, problems: [...listed, ...more] }
    },
  }
}
