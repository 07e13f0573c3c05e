import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { platform } from 'node:os'
import { resolve } from 'node:path'

/** What opens a file in the user's browser, by platform. */
const OPEN_COMMANDS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
}

/** Opens a page in the browser and leaves it there. Resolves with whether there was something to open it with. */
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
