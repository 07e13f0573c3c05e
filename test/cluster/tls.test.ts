import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand } from '../helpers/command.ts'
import { freePort } from '../helpers/free-port.ts'
import { tempFolder } from '../helpers/temp-folder.ts'

/**
 * Starts a Redis server with a password and TLS only, and a self-signed certificate. Undefined if the machine
 * cannot run it.
 */
async function startTlsRedis(password: string): Promise<{ port: number; certificate: string } | undefined> {
  const folder = tempFolder()
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject]
  const port = await freePort()
  const tls = ['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no']
  const files = ['--tls-cert-file', certificate, '--tls-key-file', key, '--dir', folder, '--save', '']
  try {
    execFileSync('openssl', [...made, '-keyout', key, '-out', certificate], { stdio: 'pipe' })
    const server = spawn('redis-server', [...tls, ...files, '--requirepass', password])
    onTestFinished(() => void server.kill('SIGKILL'))
    server.on('error', () => server.stdout.destroy())
    for await (const chunk of server.stdout.iterator({ destroyOnReturn: false }))
      if (String(chunk).includes('Ready to accept')) return { port, certificate }
  } catch {
    return undefined
  }
  return undefined
}

test('a queue over TLS needs a trusted certificate', { tags: ['long'] }, async ({ skip }) => {
  const redis = await startTlsRedis('a-secret-of-redis')
  if (redis === undefined) return skip('redis-server without TLS, or no openssl')
  const queue = `rediss://:a-secret-of-redis@localhost:${redis.port}`
  const trusted = await runCommand(['status', '--queue', queue], { NODE_EXTRA_CA_CERTS: redis.certificate })
  expect([trusted.exit, trusted.stdout]).toEqual([0, '0 workers\n'])
  const { exit, stdout, stderr } = await runCommand(['status', '--queue', queue])
  expect([exit, stderr]).toEqual([5, expect.stringContaining('self-signed certificate')])
  expect(stderr).toContain('fix: Set NODE_EXTRA_CA_CERTS')
  expect(stdout + stderr).not.toContain('a-secret-of-redis')
})
