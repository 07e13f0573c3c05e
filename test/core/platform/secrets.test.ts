import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ExportError } from '../../../src/core/model/errors.ts'
import {
  createRedactor,
  redactSecrets,
  redactUrlPasswords,
  registerSecret,
} from '../../../src/core/platform/secrets.ts'

const KEY = 'wl-S3cr3t/9f8e+7d6c=5b4a'
const redact = createRedactor([KEY])
const percent = (text: string) => Array.from(text, (char) => `%${hexOf(char)}`).join('')
const hexOf = (char: string) => char.charCodeAt(0).toString(16).padStart(2, '0')
const base64 = (text: string) => Buffer.from(text).toString('base64')

test.for([
  { form: 'in plain text', text: KEY },
  { form: 'in upper case', text: KEY.toUpperCase() },
  { form: 'percent-encoded where necessary', text: encodeURIComponent(KEY) },
  { form: 'percent-encoded as a whole', text: percent(KEY) },
  { form: 'percent-encoded in upper case', text: percent(KEY).toUpperCase() },
  { form: 'percent-encoded in part', text: percent(KEY.slice(0, 5)) + KEY.slice(5) },
  { form: 'percent-encoded twice', text: encodeURIComponent(encodeURIComponent(KEY)) },
  { form: 'escaped as JSON', text: KEY.replaceAll('/', '\\/') },
  { form: 'escaped as JSON code units', text: Array.from(KEY, (char) => `\\u00${hexOf(char)}`).join('') },
  { form: 'escaped as HTML', text: KEY.replaceAll('/', '&#x2F;').replaceAll('+', '&#43;') },
  {
    form: 'escaped as HTML by name',
    text: KEY.replace('/', '&sol;').replace('+', '&plus;').replace('=', '&equals;'),
  },
  { form: 'without its start', text: KEY.slice(5) },
  { form: 'without its end', text: KEY.slice(0, 17).toUpperCase() },
  { form: 'by twelve characters from its middle', text: `a${KEY.slice(4, 16)}` },
  { form: 'as hexadecimal', text: Buffer.from(KEY).toString('hex') },
  { form: 'as separated hexadecimal bytes', text: Array.from(KEY, hexOf).join(' ').toUpperCase() },
  { form: 'as base64', text: base64(KEY) },
  { form: 'as base64url', text: Buffer.from(KEY).toString('base64url') },
  { form: 'as base64, percent-encoded', text: encodeURIComponent(base64(KEY)) },
  { form: 'as base64 after one letter', text: base64(`a${KEY}`) },
  { form: 'as base64 after a user name', text: base64(`user:${KEY}`) },
  { form: 'as base64 before other text', text: base64(`ab${KEY}, and more`) },
])('redacts a secret $form', ({ text }) => {
  const redacted = redact(`before ${text} after`)
  expect(redacted).toMatch(/^before \S*…\S* ?\S* after$/)
  expectNothingOf(redacted, KEY)
})

/** Asserts that no six consecutive letters of the secret remain, in plain text or in base64. */
function expectNothingOf(redacted: string, secret: string): void {
  const words = redacted
    .split(/[^A-Za-z0-9+/_-]/)
    .flatMap((word) => [0, 1, 2, 3].map((cut) => word.slice(cut)))
  const decoded = words.map((word) => Buffer.from(word, 'base64').toString('latin1'))
  const all = [redacted, ...decoded].join('\n').toLowerCase()
  for (let at = 0; at + 6 <= secret.length; at += 1)
    expect(all.includes(secret.slice(at, at + 6).toLowerCase())).toBe(false)
}

const aSecret = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 8,
  maxLength: 40,
})

test('keeps eleven characters that a secret contains', () => {
  expect(redact(`before ${KEY.slice(3, 14)} after`)).toBe(`before ${KEY.slice(3, 14)} after`)
})

test('redacts any secret in the base64 of any surrounding text', () => {
  const around = fc.string({ unit: 'grapheme-ascii', maxLength: 9 })
  fc.assert(
    fc.property(
      aSecret,
      around,
      around,
      fc.constantFrom('base64', 'base64url'),
      (secret, before, after, form) => {
        const word = Buffer.from(before + secret + after).toString(form as BufferEncoding)
        const redacted = createRedactor([secret])(`bad ${word} key`)
        expect(redacted).toContain('…')
        expect(redacted.length).toBeLessThanOrEqual(`bad ${word} key`.length - Math.floor(secret.length) + 3)
      },
    ),
    { numRuns: 500 },
  )
})

describe('text without the secret', () => {
  test.for([
    `0x${'9f8e7d6c5b4a'.repeat(5)}`,
    'wl-S3cr3t of another one',
    base64('a key, but not the one that is looked for'),
    '%77%6c-S3',
  ])('is not changed: %s', (text) => {
    expect(redact(text)).toBe(text)
  })

  test('is not changed by an empty secret', () => {
    expect(createRedactor([''])('text')).toBe('text')
  })
})

test('redacts a secret that contains another one completely', () => {
  expect(createRedactor(['abcdefgh', 'abcdefghijkl'])('a abcdefghijkl b')).toBe('a … b')
})

test('redacts secrets of four characters in plain text and percent-encoded', () => {
  expect(createRedactor(['p wd'])('a p wd b p%20wd c p+wd d')).toBe('a … b … c … d')
})

test.for(['', 'k', 'ey', 'key'])(
  'does not redact the secret %j, which occurs in unrelated text',
  (secret) => {
    const text = 'the key was refused: k%65y a2V5 6b6579 &#107;ey'
    expect(createRedactor([secret])(text)).toBe(text)
  },
)

test('redactSecrets redacts registered secrets except short ones', () => {
  registerSecret('remembered-secret')
  registerSecret('short')
  expect(redactSecrets(`short ${base64('remembered-secret')} end`)).toBe('short … end')
})

test.for([
  ['the queue at redis://:hunter2@queue:6379 is away', 'the queue at redis://…@queue:6379 is away'],
  ['found "s3://AKIA:se/cr@et@bucket/x", expected', 'found "s3://…@bucket/x", expected'],
  ['postgres://me:pw@db/lake and https://token@host/', 'postgres://…@db/lake and https://…@host/'],
  ['https://host/a:b@c', 'https://…@c'],
  ['see https://example.com/@user', 'see https://example.com/@user'],
  ['write http://USER:PASSWORD@HOST:PORT', 'write http://USER:PASSWORD@HOST:PORT'],
  ['mail me@example.com: https://example.com', 'mail me@example.com: https://example.com'],
])('redacts URL passwords in "%s"', ([text, redacted]) => {
  expect(redactUrlPasswords(text ?? '')).toBe(redacted)
})

test('an error contains no URL password in its message or fix', () => {
  const error = new ExportError('USAGE', 'no s3://me:hunter2@bucket', { fix: 'Not redis://:hunter2@queue.' })
  expect([error.message, error.fix, String(error)].join()).not.toContain('hunter2')
})
