import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { listenOnLoopback } from '../helpers/serve.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/**
 * Starts an HTTPS server with a self-signed certificate that always returns this body. It is closed when the test ends.
 */
export async function startTlsServer(body: string): Promise<{ url: string }> {
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(tempFolder(), name)) as [string, string]
  const curve = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-subj',
    '/CN=localhost',
  ]
  execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const options = { key: readFileSync(key), cert: readFileSync(cert) }
  const server = createServer(options, (_, response) => response.end(body))
  return { url: `https://127.0.0.1:${await listenOnLoopback(server)}` }
}
