import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { BucketLocation } from '../../src/core/model/model.ts'
import { freePort } from '../helpers/free-port.ts'
import { isMissing } from '../helpers/programs.ts'

/** Whether tests of object stores must be skipped. */
export const noRadosgw = isMissing('Ceph (radosgw)')

export type Radosgw = {
  endpoint: string
  /** A new location in the bucket. */
  newLocation(): BucketLocation
  stop(): Promise<void>
}

const KEY = { id: 'LAKE', secret: 'lake-secret' }
const BUCKET = 'lake'

/**
 * Starts a Ceph cluster in memory on free ports of 127.0.0.1: monitor, manager, object storage daemon and the
 * S3 gateway, which checks signatures and conditional writes. Sets the credentials in the environment of this
 * process.
 */
export async function startRadosgw(): Promise<Radosgw> {
  if (noRadosgw) throw new Error(`Ceph is missing: apt-get install radosgw ceph-mon ceph-mgr ceph-osd`)
  const folder = mkdtempSync(join(tmpdir(), 'walletlake-radosgw-'))
  const [monitor, gateway] = [await freePort(), await freePort()]
  const endpoint = `http://127.0.0.1:${gateway}`
  for (const name of ['mon', 'osd', 'mgr', 'run']) mkdirSync(join(folder, name))
  const config = join(folder, 'ceph.conf')
  const fsid = execFileSync('cat', ['/proc/sys/kernel/random/uuid']).toString().trim()
  writeFileSync(config, configOf({ folder, fsid, monitor, gateway }))
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, ['-c', config, ...args], { stdio: 'pipe' }).toString()
  makeKeys(folder)
  const map = join(folder, 'monmap')
  const address = `[v2:127.0.0.1:${monitor}]`
  execFileSync('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', address, map], { stdio: 'pipe' })
  run('ceph-mon', '--mkfs', '-i', 'a', '--monmap', map, '--keyring', join(folder, 'keyring'))
  const servers = [start('ceph-mon', ['-c', config, '-i', 'a', '-f'])]
  servers.push(start('ceph-mgr', ['-c', config, '-i', 'x', '-f']))
  run('ceph', 'osd', 'create')
  run('ceph-osd', '-i', '0', '--mkfs')
  servers.push(start('ceph-osd', ['-c', config, '-i', '0', '-f']))
  servers.push(start('radosgw', ['-c', config, '-n', 'client.rgw', '-f']))
  await waitUntilReachable(endpoint)
  const user = ['--uid', 'lake', '--display-name', 'lake', '--access-key', KEY.id, '--secret-key', KEY.secret]
  run('radosgw-admin', '-n', 'client.rgw', 'user', 'create', ...user)
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: KEY.id, AWS_SECRET_ACCESS_KEY: KEY.secret })
  await makeBucket(endpoint)
  let locations = 0
  return {
    endpoint,
    newLocation: () => ({ bucket: BUCKET, prefix: `place/${process.pid}-${++locations}`, endpoint }),
    stop: async () => {
      await Promise.all(servers.reverse().map(end))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Config = { folder: string; fsid: string; monitor: number; gateway: number }

const configOf = ({ folder, fsid, monitor, gateway }: Config) => `[global]
fsid = ${fsid}
mon_host = v2:127.0.0.1:${monitor}
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
keyring = ${folder}/keyring
run_dir = ${folder}/run
crash_dir = ${folder}/run
admin_socket =
log_file =
mon_cluster_log_file = /dev/null
mon_data = ${folder}/mon
mgr_data = ${folder}/mgr
osd_data = ${folder}/osd
osd_objectstore = memstore
memstore_device_bytes = 1073741824
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 1
osd_pool_default_pgp_num = 1
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
[mgr]
mgr_initial_modules =
[client]
rgw_frontends = beast endpoint=127.0.0.1:${gateway}
rgw_data = ${folder}/rgw
`

function makeKeys(folder: string): void {
  const file = join(folder, 'keyring')
  const all = ['--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *', '--cap', 'mgr', 'allow *']
  const add = (...args: string[]) =>
    execFileSync('ceph-authtool', [file, '--gen-key', ...args], { stdio: 'pipe' })
  execFileSync('ceph-authtool', ['-C', file, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *'], {
    stdio: 'pipe',
  })
  for (const name of ['client.admin', 'client.rgw']) add('-n', name, ...all)
  const profile = (of: string) => ['--cap', 'mon', `allow profile ${of}`, '--cap', 'osd', 'allow *']
  add('-n', 'osd.0', ...profile('osd'), '--cap', 'mgr', 'allow profile osd')
  add('-n', 'mgr.x', ...profile('mgr'))
}

const start = (program: string, args: readonly string[]) => spawn(program, args, { stdio: 'ignore' })

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  server.kill('SIGKILL')
  await once(server, 'exit')
}

async function waitUntilReachable(endpoint: string): Promise<void> {
  for (;;) {
    const isUp = await fetch(endpoint).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isUp) return
    await wait(100)
  }
}

async function makeBucket(endpoint: string): Promise<void> {
  const { S3Client, CreateBucketCommand } = await import('@aws-sdk/client-s3')
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true })
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }))
  client.destroy()
}
