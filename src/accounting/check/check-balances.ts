import type { Preset } from '../csv/preset.ts'
import { unitsOfFloat } from '../csv/remainders.ts'
import { type CellOf, cellsOf, type FormatProblem, parseCsvInstant, type Row } from './check-csv.ts'

type Place = { file?: string | undefined; line: number }

/** A change of the balance of an account and asset, in units of the last decimal of the format. */
type Change = Place & { time: number; account: string; asset: string; units: bigint }

/**
 * Checks the balances that a program computes from the files of a format with few decimals. Balances are compared with zero after
 * all lines of a second. Unless the program stops at every balance below zero, only those that rounding explains are
 * problems: an incomplete history is not a mistake in the file.
 */
export function createBalanceCheck({ numbers, date, rejectsNegativeBalances = false }: Preset) {
  const { maxDecimals, readsFloats } = numbers
  const changes: Change[] = []
  return {
    /** Adds a line. Call it for each line except headers. */
    add(row: Row, preset: Preset, file?: string): void {
      const cell = cellsOf(row, preset)
      const time = parseCsvInstant(cell('date') ?? '', date)
      if (maxDecimals === undefined || time === undefined) return
      for (const { account, asset, amount, isOut } of amountsOf(cell)) {
        const units = readsFloats ? unitsOfFloat(amount, maxDecimals) : unitsOf(amount, maxDecimals)
        changes.push({ file, line: row.line, time, account, asset, units: isOut ? -units : units })
      }
    },
    problems(): FormatProblem[] {
      const balances = new Map<string, { units: bigint; lines: number; isReported: boolean }>()
      const problems: FormatProblem[] = []
      const sorted = changes.sort((a, b) => a.time - b.time)
      for (let from = 0, to = 0; from < sorted.length; from = to) {
        while (to < sorted.length && sorted[to]?.time === sorted[from]?.time) to += 1
        const ofSecond = sorted.slice(from, to)
        for (const { account, asset, units } of ofSecond) {
          const key = JSON.stringify([account, asset])
          const balance = balances.get(key) ?? { units: 0n, lines: 0, isReported: false }
          balances.set(key, balance)
          balance.units += units
          balance.lines += 1
        }
        for (const { file, line, account, asset, units } of ofSecond) {
          const balance = balances.get(JSON.stringify([account, asset]))
          if (balance === undefined || balance.units >= 0n || balance.isReported || units >= 0n) continue
          const isRounding = -balance.units <= BigInt(balance.lines)
          if (!isRounding && !rejectsNegativeBalances) continue
          balance.isReported = true
          const place = account === '' ? asset : `${asset} of ${account}`
          problems.push({
            file,
            line,
            what: `more of ${place} is sent than was received before${isRounding ? ', because amounts are rounded' : ''}`,
          })
        }
      }
      return problems
    },
  }
}

const DECIMAL = /^\d+(\.\d+)?$/

/** The amounts of a line, with the names of accounts; the account is empty if no column names it. */
function amountsOf(cell: CellOf): { account: string; asset: string; amount: string; isOut: boolean }[] {
  const text = (role: Parameters<CellOf>[0]) => cell(role) ?? ''
  const [from, to, wallet, asset] = [text('fromWallet'), text('toWallet'), text('wallet'), text('asset')]
  const account = wallet
  const all = [
    { account: to || wallet, asset, amount: text('amount'), isOut: false },
    { account: from, asset, amount: from === '' ? '' : text('amount'), isOut: true },
    { account, asset, amount: text('outAmountOrZero'), isOut: true },
    { account, asset, amount: text('feeAmountOrZero'), isOut: true },
    { account, asset: text('inAsset'), amount: text('inAmount'), isOut: false },
    { account, asset: text('outAsset'), amount: text('outAmount'), isOut: true },
  ]
  return all.filter(({ amount }) => DECIMAL.test(amount))
}

/** The amount in units of the last decimal; further decimals are another problem of the line. */
function unitsOf(amount: string, decimals: number): bigint {
  const [whole = '', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
}
