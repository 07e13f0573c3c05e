import { afterAll } from 'vitest'

/** Test files share a process: each begins with the environment variables that the process started with. */
const before = { ...process.env }

afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
  Object.assign(process.env, before)
})
