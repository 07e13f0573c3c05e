import type { Client, ClientConfig } from 'pg'

/**
 * Returns the client configurations to try in order. An explicit `sslmode` (from the address or PGSSLMODE) is used as
 * it is. The default is libpq's `prefer`: encrypted if the server supports it. `pg` alone would connect unencrypted by
 * default and treat `prefer` like `verify-full`.
 */
export function sslConfigs(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): ClientConfig[] {
  const url = new URL(address)
  const mode = url.searchParams.get('sslmode') ?? env.PGSSLMODE ?? 'prefer'
  const isExplicit = ['ssl', 'sslcert', 'sslrootcert'].some((name) => url.searchParams.has(name))
  const shared = { connectionString: address, application_name: 'walletlake' }
  if (isExplicit || !['prefer', 'allow', ''].includes(mode)) return [shared]
  url.searchParams.delete('sslmode')
  const withoutSslMode = { ...shared, connectionString: url.href }
  if (isSocket(url, env)) return [{ ...withoutSslMode, ssl: false }]
  return [
    { ...withoutSslMode, ssl: { rejectUnauthorized: false } },
    { ...withoutSslMode, ssl: false },
  ]
}

/** Whether the host is a local Unix socket, which needs no encryption. */
function isSocket(
  { hostname, searchParams }: URL,
  { PGHOST = '' }: { PGHOST?: string | undefined },
): boolean {
  return (searchParams.get('host') ?? (decodeURIComponent(hostname) || PGHOST)).startsWith('/')
}

/** Connects with the first configuration; if the server does not support SSL, with the next. */
export async function connectWithFirst(
  configs: readonly ClientConfig[],
  open: (config: ClientConfig) => Client,
): Promise<Client> {
  for (const [at, config] of configs.entries()) {
    const client = open(config)
    client.on('error', () => undefined)
    try {
      await client.connect()
      return client
    } catch (cause) {
      const isLast = at === configs.length - 1
      if (isLast || !(cause instanceof Error) || !NO_SSL.test(cause.message)) throw cause
      await client.end().catch(() => undefined)
    }
  }
  throw new Error('no client configuration')
}

const NO_SSL = /server does not support SSL/i
