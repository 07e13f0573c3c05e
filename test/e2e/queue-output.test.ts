import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { GENERATOR } from '../../src/core/model/version.ts'
import { runCommand, type startCommand } from '../helpers/command.ts'
import { outputBytes } from '../helpers/output-bytes.ts'
import { ADDRESSES, OTHER_ADDRESSES, setUpQueue } from '../helpers/queued-runs.ts'
import { noRedis, testServer } from '../helpers/shared-servers.ts'
import { tempFile } from '../helpers/temp-folder.ts'

describe.skipIf(noRedis)('a run with a queue', { tags: ['long'] }, () => {
  const server = testServer()

  test('continues an existing export like a run on a single machine', async () => {
    const at = await setUpQueue(server)
    at.startWorker()
    expect((await at.runQueued()).exit).toBe(0)
    const before = await at.expectSameAsAlone()
    at.writeJob('endBlock: 421\npartitionBy: blocks:100\nformat: parquet\n')
    const { exit, stderr } = await at.runQueued()
    expect([exit, stderr]).toEqual([2, expect.stringContaining('format was csv and is parquet')])
    expect(outputBytes(join(at.folder, 'many'))).toEqual(before)
    at.writeJob(undefined, [...ADDRESSES.slice(2), ...OTHER_ADDRESSES])
    const next = await at.runQueued()
    expect([next.exit, next.stderr]).toEqual([
      0,
      expect.stringContaining('2 wallets are no longer in the job; their rows up to at most block'),
    ])
    expect(
      Object.keys(await at.expectSameAsAlone()).filter((path) => path.startsWith('changes/')),
    ).toHaveLength(1)
    expect((await runCommand(['verify', join(at.folder, 'many')])).exit).toBe(0)
  })

  test('continues although malformed entries are put into the queue', async () => {
    let spoil = async () => {}
    const at = await setUpQueue(server, ({ count }) => {
      if (count !== 6) return undefined
      return async (response, { status, headers, body }) => {
        await spoil()
        response.writeHead(status, headers).end(body)
      }
    })
    spoil = async () => {
      await server.redis.hset('walletlake:runs', 'x\n', '{"name":"\\u001b[2J"}', 'y', 'no JSON')
      const [prefix = ''] = (await server.redis.keys('walletlake-*:read:wait')).map((key) =>
        key.replace(/:wait$/, ''),
      )
      const bad = [
        'no JSON',
        '{"kind":"read","first":0,"end":9999,"from":0,"to":9}',
        '{"kind":"write","from":"../x"}',
      ]
      for (const [nth, data] of bad.entries()) {
        await server.redis.hset(`${prefix}:bad${nth}`, {
          name: 'read',
          data,
          opts: '{"attempts":1}',
          timestamp: '1',
        })
        await server.redis.lpush(`${prefix}:wait`, `bad${nth}`)
      }
    }
    const worker = at.startWorker()
    const { stderr } = await at.runQueued()
    // Invalid entries fail separately; what they lack is planned by the next run.
    const again = stderr.includes('TASKS_FAILED') ? await at.runQueued() : undefined
    expect(again?.exit ?? 0).toBe(0)
    expect(stderr).not.toContain('\u001b[2J')
    expect(await worker.stop()).toContain('its entry in the queue is malformed')
    await at.expectSameAsAlone()
  })

  test('is not served by another version, and both sides report both versions', async () => {
    const at = await setUpQueue(server, undefined, ADDRESSES.slice(0, 3))
    await server.redis.set('walletlake:worker:other', 'walletlake 9.9.9')
    const run = at.startQueuedRun()
    await saying(run, `no worker of ${GENERATOR} is connected: the only worker runs walletlake 9.9.9`)
    await server.redis.hset(
      'walletlake:runs',
      `other-${'0'.repeat(16)}`,
      JSON.stringify({ version: 'walletlake 9.9.9' }),
    )
    const worker = at.startWorker()
    expect((await run.ended).exit).toBe(0)
    expect(await worker.stop()).toContain(`it was started by walletlake 9.9.9, but this is ${GENERATOR}`)
  })

  test('takes the Redis password from the environment and does not print it', async () => {
    const secret = 'a-secret-of-redis'
    await server.redis.config('SET', 'requirepass', secret)
    onTestFinished(async () => void (await server.redis.config('SET', 'requirepass', '')))
    const status = (env: NodeJS.ProcessEnv) => runCommand(['status', '--queue', server.url], env)
    const file = tempFile('password', `${secret}\n`)
    expect(await status({ WALLETLAKE_REDIS_PASSWORD: secret })).toMatchObject({ exit: 0 })
    expect(await status({ WALLETLAKE_REDIS_PASSWORD_FILE: file })).toMatchObject({ exit: 0 })
    for (const env of [{}, { WALLETLAKE_REDIS_PASSWORD: 'another-secret' }]) {
      const { exit, stderr } = await status(env)
      expect([exit, stderr]).toEqual([5, expect.stringContaining('fix: Set WALLETLAKE_REDIS_PASSWORD')])
      expect(stderr).not.toContain('secret')
    }
  })
})

/** Resolves once a process has written this to stderr. */
function saying(process: ReturnType<typeof startCommand>, words: string): Promise<void> {
  return new Promise((resolve) => {
    let said = ''
    process.stderr?.on('data', (chunk) => {
      said += String(chunk)
      if (said.includes(words)) resolve()
    })
  })
}
