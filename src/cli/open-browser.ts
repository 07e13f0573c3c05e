import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { platform } from 'node:os'
import { resolve } from 'node:path'

/** Command that opens a file in the default browser, by platform. Other platforms use xdg-open. */
const OPEN_COMMANDS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Opens a file in the browser, without waiting for it. Resolves with false if the command cannot be started. */
export async function openInBrowser(file: string): Promise<boolean> {
  const [command = '', ...args] = OPEN_COMMANDS[platform()] ?? ['xdg-open']
  const child = spawn(command, [...args, resolve(file)], { detached: true, stdio: 'ignore' })
  try {
    await once(child, 'spawn')
    child.unref()
    return true
  } catch {
    return false
  }
}
