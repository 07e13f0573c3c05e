/** An SQL token: a word or number, a quoted name, a text literal, a comment, or any other single character. */
export type Piece = { readonly kind: 'word' | 'name' | 'text' | 'comment' | 'sign'; readonly text: string }

export type Quoting = {
  /** Quote character of names. */
  readonly name: '"' | '`'
  /** Whether a backslash escapes the next character in a literal. */
  readonly backslash: boolean
}

/** Tokenizes SQL by an engine's quoting rules. Throws if a quote or comment does not end. */
export function scanSql(sql: string, { name, backslash }: Quoting): Piece[] {
  const escaped = backslash ? "\\\\[\\s\\S]|''" : "''"
  const pattern = new RegExp(
    [
      '(?<comment>--[^\\n]*)',
      `(?<text>r"(?:[^"])*"|'(?:${escaped}|[^'${backslash ? '\\\\' : ''}])*')`,
      `(?<name>${name}[^${name}]+${name})`,
      '(?<word>[A-Za-z0-9_@]+(?:\\.[0-9]+)?)',
      '(?<space>\\s+)',
      `(?<sign>[^'"\`])`,
    ].join('|'),
    'gy',
  )
  const pieces: Piece[] = []
  while (pattern.lastIndex < sql.length) {
    const at = pattern.lastIndex
    const groups = pattern.exec(sql)?.groups
    if (groups === undefined) throw new Error(`a quote does not end: ${sql.slice(at, at + 60)}`)
    const [kind, text] = Object.entries(groups).find(([, found]) => found !== undefined) ?? []
    if (kind !== 'space') pieces.push({ kind: kind as Piece['kind'], text: text ?? '' })
  }
  return pieces
}

/** Splits a script into statements, each as its tokens without comments. */
export function statementsOf(sql: string, quoting: Quoting): Piece[][] {
  const statements: Piece[][] = [[]]
  for (const piece of scanSql(sql, quoting)) {
    if (piece.kind === 'comment') continue
    if (piece.text === ';') statements.push([])
    else statements.at(-1)?.push(piece)
  }
  if (statements.at(-1)?.length === 0) statements.pop()
  for (const statement of statements) checkBrackets(statement)
  return statements
}

function checkBrackets(statement: readonly Piece[]): void {
  let depth = 0
  for (const { kind, text } of statement) {
    if (kind !== 'sign') continue
    depth += text === '(' ? 1 : text === ')' ? -1 : 0
    if (depth < 0) break
  }
  if (depth !== 0) throw new Error(`brackets do not match: ${statement.map(({ text }) => text).join(' ')}`)
}

/** Maps column names to their declarations, as tokens joined by spaces. */
export function columnsOf(statement: readonly Piece[]): Map<string, string> {
  const start = statement.findIndex(({ text }) => text === '(')
  const columns = new Map<string, string>()
  let depth = 0
  let line: string[] = []
  const end = () => {
    const [name = '', ...declared] = line
    columns.set(name.replaceAll(/["`]/g, ''), declared.join(' '))
    line = []
  }
  for (const { kind, text } of statement.slice(start + 1)) {
    if (kind === 'sign' && text === ')' && depth === 0) break
    if (kind === 'sign') depth += text === '(' ? 1 : text === ')' ? -1 : 0
    if (kind === 'sign' && text === ',' && depth === 0) end()
    else line.push(text)
  }
  end()
  return columns
}
