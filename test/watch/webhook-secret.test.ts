import { expect, test } from 'vitest'
import { ExportError } from '../../src/core/model/errors.ts'
import { sign } from '../../src/demo-server/webhooks/sign.ts'
import { openEventVerifier, type SecretOptions } from '../../src/watch/event-signature.ts'

const event = { a: 1 }
const text = JSON.stringify(event)
const received = (secret: string, scheme: 'canonical' | 'raw' = 'canonical') => ({
  body: Buffer.from(text),
  event,
  signature: sign({ secret, body: event, text }, scheme),
})

async function opened(answer: string | number, given: Partial<SecretOptions> = {}) {
  const requests: string[] = []
  const notices: string[] = []
  const getSharedSecret = async () => {
    requests.push('secret')
    if (typeof answer === 'string') return answer
    throw new ExportError('REQUEST_REFUSED', 'said so', { status: answer })
  }
  const onNotice = (notice: string) => void notices.push(notice)
  return {
    ...(await openEventVerifier({ getSharedSecret }, { onNotice, ...given })),
    requests,
    notices,
  }
}

test('fetches the secret from the service and checks signatures of both schemes', async () => {
  const { isGenuine, requests } = await opened('abcd')
  expect(isGenuine(received('abcd'))).toBe(true)
  expect(isGenuine(received('abcd', 'raw'))).toBe(true)
  expect(isGenuine(received('abce'))).toBe(false)
  expect(isGenuine({ ...received('abcd'), signature: undefined })).toBe(false)
  expect(requests).toHaveLength(1)
})

test('uses a given secret and never fetches another', async () => {
  const { isGenuine, requests } = await opened('abcd', { secret: 'ef01' })
  expect([isGenuine(received('ef01')), isGenuine(received('abcd'))]).toEqual([true, false])
  expect(requests).toEqual([])
})

test('accepts only the given scheme', async () => {
  const { isGenuine } = await opened('abcd', { secretScheme: 'raw' })
  expect([isGenuine(received('abcd', 'raw')), isGenuine(received('abcd'))]).toEqual([true, false])
})

test('accepts everything if the service has no secret, and prints a notice', async () => {
  const { isGenuine, notices } = await opened(404)
  expect(isGenuine({ ...received('abcd'), signature: undefined })).toBe(true)
  expect(notices.join()).toContain('without a signature')
})

test('accepts everything if signature checks are disabled', async () => {
  const { isGenuine, requests } = await opened('abcd', { secretScheme: 'none' })
  expect(isGenuine({ ...received('abcd'), signature: undefined })).toBe(true)
  expect(requests).toEqual([])
})

test('fails if the service refuses to return the secret', async () => {
  await expect(opened(403)).rejects.toMatchObject({ status: 403 })
})

test('rejects a secret that is invalid for the scheme, without showing it', async () => {
  const work = opened('abcd', { secret: 'not-hex-at-all', secretScheme: 'canonical' })
  await expect(work).rejects.toMatchObject({ code: 'USAGE', message: expect.not.stringContaining('not-hex') })
})
