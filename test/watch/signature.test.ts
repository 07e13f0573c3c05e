import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sign } from '../../src/demo-server/webhooks/sign.ts'
import { isUsableWithScheme, type SecretScheme, verifySignature } from '../../src/watch/event-signature.ts'

const HEX = '4a656665'
const SCHEMES = ['canonical', 'raw'] as const
const signed = (text: string, scheme: SecretScheme, secret = HEX) => ({
  body: Buffer.from(text),
  event: JSON.parse(text) as object,
  secret,
  signature: sign({ secret, body: JSON.parse(text), text }, scheme),
})

test.for(SCHEMES)('accepts every event that is signed with the scheme %s', (scheme) => {
  const objects = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { minKeys: 1 })
  fc.assert(
    fc.property(objects, fc.integer({ min: 0, max: 3 }), (event, space) => {
      const given = signed(JSON.stringify(event, null, space), scheme)
      expect(verifySignature({ ...given, schemes: [scheme] })).toBe(true)
      expect(verifySignature({ ...given, schemes: SCHEMES })).toBe(true)
    }),
  )
})

test('matches RFC 4231, test case 2, for raw bytes', () => {
  const signature = Buffer.from(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    'hex',
  ).toString('base64')
  const given = { body: Buffer.from('what do ya want for nothing?'), event: {}, signature }
  expect(verifySignature({ ...given, secret: 'Jefe', schemes: ['raw'] })).toBe(true)
})

test('accepts a canonical signature for any key order and whitespace of the body', () => {
  const { signature } = signed('{"a":1,"b":[2,{"c":3,"d":4}]}', 'canonical')
  const text = '{ "b": [2.0, {"d":4, "c":3}],\n"a": 1e0 }'
  const given = { body: Buffer.from(text), event: JSON.parse(text), signature, secret: HEX }
  expect(verifySignature({ ...given, schemes: ['canonical'] })).toBe(true)
  expect(verifySignature({ ...given, schemes: ['raw'] })).toBe(false)
})

test.for([
  { what: 'another body', change: { body: Buffer.from('{"a":2}'), event: { a: 2 } } },
  { what: 'another secret', change: { secret: '4a656666' } },
  { what: 'no signature', change: { signature: undefined } },
  { what: 'an empty signature', change: { signature: '' } },
  { what: 'a truncated signature', change: { signature: 'W9zBRr9gdU5qBCQmCJV1xw==' } },
  { what: 'a signature that is not base64', change: { signature: '\u0000é' } },
])('rejects $what', ({ change }) => {
  for (const scheme of SCHEMES)
    expect(verifySignature({ ...signed('{"a":1}', scheme), schemes: SCHEMES, ...change })).toBe(false)
})

test('never accepts a secret that would decode to an empty key', () => {
  const secret = 'not hex'
  const given = signed('{"a":1}', 'canonical', secret)
  expect(verifySignature({ ...given, schemes: ['canonical'] })).toBe(false)
  expect(SCHEMES.map((scheme) => isUsableWithScheme(secret, scheme))).toEqual([false, true])
  expect(isUsableWithScheme('abc', 'canonical')).toBe(false)
})
