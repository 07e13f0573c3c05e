import type { BlockFindings } from './compare-block.ts'

export type AuditVerdict = {
  /** True where nothing is missing, surplus or different. */
  ok: boolean
  /** Blocks that the service listed. */
  blocks: number
  /** Blocks that it does not know (404): nothing in them was judged. */
  unknownBlocks: number
  /** Exported transactions that those blocks list, held against them field by field. */
  compared: number
  /** Transactions listed from or to a wallet and not exported, or not for that wallet. */
  missing: number
  /** Exported transactions from or to a wallet that their block does not list. */
  surplus: number
  /** Transactions that differ in sender, receiver, value, position, block hash or block time. */
  differing: number
  /** Listed entries without a hash: they could not be compared. */
  unreadable: number
  /** One line each; at most 50, then `and N more`. */
  problems: readonly string[]
}

export type VerdictBuilder = {
  add(block: number, findings: BlockFindings & { unreadable: number }): void
  addUnknown(): void
  build(): AuditVerdict
}

const MAX_LISTED = 50

/** An empty tally of blocks. */
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
