/**
 * Creates a function that replaces secrets in text with `…`. It finds a secret in any letter case, with any
 * of its characters percent-encoded (once or twice) or escaped as in JSON or HTML, as hexadecimal bytes, and
 * inside base64 of either alphabet at any offset. Secrets of fewer than 4 characters are ignored, because they occur in
 * unrelated text.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const patterns = [...new Set(secrets)]
    .filter((secret) => secret.length >= MIN_REDACTED_LENGTH)
    .sort((a, b) => b.length - a.length)
    .flatMap(patternsOf)
  return (text) =>
    patterns.reduce(
      (redacted, { prefilter, pattern }) =>
        prefilter.test(redacted) ? redacted.replace(pattern, '…') : redacted,
      text,
    )
}

/** Secrets that this process has read; they are redacted from all output. */
const secrets = new Set<string>()
let redact = createRedactor([])

/**
 * Registers a secret for `redactSecrets`. Short secrets are ignored, because they would match unrelated text.
 */
export function registerSecret(secret: string): void {
  if (secret.length < MIN_SECRET_LENGTH || secrets.has(secret)) return
  secrets.add(secret)
  redact = createRedactor([...secrets])
}

const MIN_SECRET_LENGTH = 8

/**
 * Removes user and password from the URLs in a text: `redis://…@host`. A password may contain an `@`, and a
 * `/` that should have been percent-encoded.
 */
export function redactUrlPasswords(text: string): string {
  return text.includes('://') ? text.replace(/\S+/g, redactPassword) : text
}

function redactPassword(word: string): string {
  const [start, end] = [word.indexOf('://') + 3, word.lastIndexOf('@')]
  const user = word.slice(start, end)
  const isUser = start > 2 && end >= start && (!user.includes('/') || user.includes(':'))
  return isUser && !/^USER(:PASSWORD)?$/.test(user) ? `${word.slice(0, start)}…${word.slice(end)}` : word
}

/** Redacts the registered secrets from text that is about to be printed. */
export function redactSecrets(text: string): string {
  return redact(text)
}

const MIN_REDACTED_LENGTH = 4

/**
 * An encoded form of a secret. Only text that matches `prefilter` can match `pattern`, which is slow to
 * compile.
 */
type SecretPattern = { prefilter: RegExp; pattern: RegExp }

function patternsOf(secret: string): SecretPattern[] {
  const plain = { prefilter: /./, pattern: new RegExp(Array.from(secret, escapeRegExp).join(''), 'gi') }
  const spelled = {
    prefilter: /[%\\&]/,
    pattern: new RegExp(Array.from(secret, spellingPattern).join(''), 'gi'),
  }
  return [plain, spelled, ...base64Patterns(secret), hexPattern(secret)]
}

/** Matches a character as itself, or as URLs, JSON and HTML encode it. */
function spellingPattern(char: string): string {
  const bytes = [...Buffer.from(char)].map(hexOf)
  const [once, twice] = ['%', '%25'].map((sign) => bytes.map((hex) => sign + hex).join(''))
  const units = Array.from({ length: char.length }, (_, at) => char.charCodeAt(at).toString(16))
  const json = units.map((unit) => `\\\\u${unit.padStart(4, '0')}`).join('')
  const code = char.codePointAt(0) ?? 0
  const html = `&#0{0,6}${code};|&#x0{0,6}${code.toString(16)};`
  return `(?:\\\\?${escapeRegExp(char)}|${once}|${twice}|${json}|${html})`
}

const hexOf = (byte: number) => byte.toString(16).padStart(2, '0')

function escapeRegExp(char: string): string {
  if (char === ' ') return '[ +]'
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char
}

/** Matches consecutive hexadecimal bytes, with an optional separator between them. */
function hexPattern(secret: string): SecretPattern {
  const bytes = [...Buffer.from(secret)].map(hexOf)
  const between = '(?:[ :,-]|\\\\x|0x)?'
  const pattern = new RegExp(bytes.join(between), 'gi')
  return { prefilter: new RegExp(`(?:[0-9a-f]{2}${between}){${bytes.length}}`, 'i'), pattern }
}

/**
 * Matches base64 text that contains the secret at any of the three offsets within a group of three bytes.
 * Letters that also hold bits of the neighbouring bytes may be any.
 */
function base64Patterns(secret: string): SecretPattern[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    const [first, end] = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)]
    const stable = bytes.toString('base64').slice(first, end)
    const core = Array.from(stable, (letter) => BASE64_SPELLINGS[letter] ?? letter).join('')
    const pattern = new RegExp(`${SHARED_LETTERS}${core}${SHARED_LETTERS}(?:=|%3[Dd]){0,2}`, 'g')
    return { prefilter: /[A-Za-z0-9]/, pattern }
  })
}

/** The two base64 alphabets differ in their last two letters, and URLs percent-encode them. */
const BASE64_SPELLINGS: Readonly<Record<string, string>> = {
  '+': '(?:[+-]|%2[Bb])',
  '/': '(?:[/_]|\\\\/|%2[Ff])',
}
/** Letters next to the fixed ones that may hold some bits of the secret. */
const SHARED_LETTERS = '(?:[A-Za-z0-9+/_-]|%2[BbFf]){0,3}'
