/**
 * Creates a function that replaces secrets in text with `…`. It finds a secret in any letter case, with any
 * of its characters percent-encoded (once or twice) or escaped as in JSON or HTML, as hexadecimal bytes, and
 * inside base64 of either alphabet at any offset; and parts of 12 or more characters in plain text. Secrets of fewer than 4 characters are ignored, because they occur in
 * unrelated text.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const patterns = [...new Set(secrets)]
    .filter((secret) => secret.length >= MIN_REDACTED_LENGTH)
    .sort((a, b) => b.length - a.length)
    .flatMap(patternsOf)
  const redactParts = createPartRedactor(secrets)
  return (text) =>
    redactParts(
      patterns.reduce(
        (redacted, { prefilter, pattern }) =>
          prefilter.test(redacted) ? redacted.replace(pattern, '…') : redacted,
        text,
      ),
    )
}

/** Number of consecutive characters of a secret that are replaced without the rest of it. */
const PART_LENGTH = 12
/** Each part contains a whole block of this length, whatever position the blocks of a text start at. */
const BLOCK_LENGTH = PART_LENGTH / 2

/** Creates a function that replaces parts of secrets in text with `…`, in any letter case. */
function createPartRedactor(secrets: readonly string[]): (text: string) => string {
  const long = secrets.filter((secret) => secret.length > PART_LENGTH).map((secret) => secret.toLowerCase())
  const blocks = new Set(long.flatMap((secret) => windowsOf(secret, BLOCK_LENGTH)))
  const parts = new Set(long.flatMap((secret) => windowsOf(secret, PART_LENGTH)))
  return (text) => {
    const lower = text.toLowerCase()
    // A few letters have a lower case of another length.
    if (long.length === 0 || lower.length !== text.length) return text
    let hasBlock = false
    for (let at = 0; at < lower.length && !hasBlock; at += BLOCK_LENGTH)
      hasBlock = blocks.has(lower.slice(at, at + BLOCK_LENGTH))
    if (!hasBlock) return text
    let [redacted, from] = ['', 0]
    for (let at = 0; at < lower.length; at += 1) {
      if (!parts.has(lower.slice(at, at + PART_LENGTH))) continue
      redacted += `${text.slice(from, at)}…`
      while (parts.has(lower.slice(at + 1, at + 1 + PART_LENGTH))) at += 1
      from = at + PART_LENGTH
      at = from - 1
    }
    return redacted + text.slice(from)
  }
}

function windowsOf(text: string, length: number): string[] {
  return Array.from({ length: Math.max(0, text.length - length + 1) }, (_, at) => text.slice(at, at + length))
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
  const named = HTML_NAMES[char]
  const html = `&#0{0,6}${code};|&#x0{0,6}${code.toString(16)};${named === undefined ? '' : `|&${named};`}`
  return `(?:\\\\?${escapeRegExp(char)}|${once}|${twice}|${json}|${html})`
}

/** Characters that HTML encoders write by name. */
const HTML_NAMES: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
  '/': 'sol',
  '+': 'plus',
  '=': 'equals',
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
