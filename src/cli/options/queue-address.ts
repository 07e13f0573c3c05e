import type { QueueAddress } from '../../cluster/server/shared-server.ts'
import { registerSecret } from '../../core/platform/secrets.ts'
import { readSecret } from '../../job/read-secret.ts'

/** Reads the address of `--queue` and the password from the environment. A password in the URL is also kept secret. */
export async function readQueueAddress(url: string): Promise<QueueAddress> {
  const inUrl = URL.canParse(url) ? new URL(url).password : ''
  for (const secret of [inUrl, decodeOrOriginal(inUrl)]) registerSecret(secret)
  return { url, password: await readSecret('redisPassword', process.env) }
}

function decodeOrOriginal(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
