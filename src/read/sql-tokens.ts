/**
 * A token of SQL text. `space`: white space and comments. `quoted`: a string literal or a quoted identifier.
 */
export type Token = { kind: 'space' | 'quoted' | 'number' | 'word' | 'symbol'; text: string }

const KINDS = [
  ['space', String.raw`\s+|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`],
  [
    'quoted',
    String.raw`[eE]'(?:[^'\\]|\\[\s\S]|'')*'?|'(?:[^']|'')*'?|"(?:[^"]|"")*"?|\$(?<tag>[A-Za-z_]\w*)?\$[\s\S]*?(?:\$\k<tag>\$|$)`,
  ],
  ['number', String.raw`0[xX][\da-fA-F_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?`],
  ['word', String.raw`[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*`],
  ['symbol', String.raw`<=|>=|<>|!=|[\s\S]`],
] as const
const TOKEN = new RegExp(KINDS.map(([kind, pattern]) => `(?<${kind}>${pattern})`).join('|'), 'gu')

/** Splits SQL text into tokens. Concatenated, they are the original text. */
export function sqlTokens(sql: string): Token[] {
  return [...sql.matchAll(TOKEN)].map(({ 0: text, groups = {} }) => {
    const [kind] = KINDS.find(([one]) => groups[one] !== undefined) ?? ['symbol' as const]
    return { kind, text }
  })
}

/** Splits SQL text into statements without their semicolons; empty statements are dropped. */
export function splitStatements(sql: string): Token[][] {
  const statements: Token[][] = [[]]
  for (const token of sqlTokens(sql)) {
    if (token.kind === 'symbol' && token.text === ';') statements.push([])
    else statements.at(-1)?.push(token)
  }
  return statements.filter((tokens) => tokens.some(({ kind }) => kind !== 'space'))
}
