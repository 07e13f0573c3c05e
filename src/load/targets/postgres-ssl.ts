import type { Client, ClientConfig } from 'pg'

/**
 * How to connect, one way after the other: as `sslmode` of the address or PGSSLMODE says, otherwise as libpq's default
 * `prefer` does, encrypted where the server can. `pg` by itself would connect unencrypted, and take `prefer` for `verify-full`.
 */
export function sslChoices(
  address: string,
  env: Readonly<Record<string, string | undefined>>,
): ClientConfig[] {
  const url = new URL(address)
  const mode = url.searchParams.get('sslmode') ?? env.PGSSLMODE ?? 'prefer'
  const isNamed = ['ssl', 'sslcert', 'sslrootcert'].some((name) => url.searchParams.has(name))
  const shared = { connectionString: address, application_name: 'walletlake' }
  if (isNamed || !['prefer', 'allow', ''].includes(mode)) return [shared]
  url.searchParams.delete('sslmode')
  const bare = { ...shared, connectionString: url.href }
  if (isSocket(url, env)) return [{ ...bare, ssl: false }]
  return [
    { ...bare, ssl: { rejectUnauthorized: false } },
    { ...bare, ssl: false },
  ]
}

/** A socket of this machine, which needs no encryption. */
function isSocket(
  { hostname, searchParams }: URL,
  { PGHOST = '' }: { PGHOST?: string | undefined },
): boolean {
  return (searchParams.get('host') ?? (decodeURIComponent(hostname) || PGHOST)).startsWith('/')
}

/** Connects in the first way, and in the next one where the server knows no encryption. */
export async function connectBy(
  choices: readonly ClientConfig[],
  open: (choice: ClientConfig) => Client,
): Promise<Client> {
  for (const [at, choice] of choices.entries()) {
    const client = open(choice)
    client.on('error', () => undefined)
    try {
      await client.connect()
      return client
    } catch (cause) {
      const isLast = at === choices.length - 1
      if (isLast || !(cause instanceof Error) || !NO_SSL.test(cause.message)) throw cause
      await client.end().catch(() => undefined)
    }
  }
  throw new Error('there is no way to connect')
}

const NO_SSL = /server does not support SSL/i
