// @module-tag long

import { createServer } from 'node:net'
import pg from 'pg'
import { expect, test } from 'vitest'
import { connectWithFirst, sslConfigs } from '../../src/load/engines/postgres.ts'
import { listenOnLoopback } from '../helpers/serve.ts'

const lax = { rejectUnauthorized: false }

test.for([
  { address: 'postgres://me@db/lake', env: {}, ssl: [lax, false] },
  { address: 'postgres://me@db/lake?sslmode=prefer', env: {}, ssl: [lax, false] },
  { address: 'postgres://me@db/lake', env: { PGSSLMODE: 'prefer' }, ssl: [lax, false] },
  { address: 'postgres://me@db/lake?sslmode=disable', env: {}, ssl: [undefined] },
  { address: 'postgres://me@db/lake?sslmode=verify-full', env: {}, ssl: [undefined] },
  { address: 'postgres://me@db/lake', env: { PGSSLMODE: 'require' }, ssl: [undefined] },
  { address: 'postgres://me@db/lake?ssl=true', env: {}, ssl: [undefined] },
  { address: 'postgres:///lake?host=/var/run/postgresql', env: {}, ssl: [false] },
])('$address with $env tries the SSL settings $ssl', ({ address, env, ssl }) => {
  const choices = sslConfigs(address, env)
  expect(choices.map((choice) => choice.ssl)).toEqual(ssl)
})

/** PostgreSQL's SSLRequest: the first eight bytes of a connection that requests encryption. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])

test('requests encryption first, and connects without it if the server does not support it', async () => {
  const heads: Buffer[] = []
  const server = createServer((socket) => {
    socket.once('data', (head) => {
      heads.push(head)
      if (head.equals(SSL_REQUEST)) socket.write('N')
      else socket.destroy()
    })
    socket.on('error', () => undefined)
  })
  const port = await listenOnLoopback(server)
  const choices = sslConfigs(`postgres://me:pw@127.0.0.1:${port}/lake`, {})
  await expect(connectWithFirst(choices, (choice) => new pg.Client(choice))).rejects.toThrow(
    /terminated|ECONNRESET/,
  )
  expect(heads).toHaveLength(2)
  expect(heads[0]).toEqual(SSL_REQUEST)
  expect(heads[1]?.readUInt32BE(4)).toBe(3 << 16)
})
