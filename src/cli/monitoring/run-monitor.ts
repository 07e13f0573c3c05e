import { ExportError } from '../../core/model/errors.ts'
import { type OptionValues, option } from '../command.ts'
import { type OtlpTarget, otlpTarget, sendOtlp } from './otlp.ts'
import { type Metric, type RunOutcome, runMetrics } from './run-metrics.ts'
import { parseHttpUrl, ping } from './send-http.ts'
import { readTextfile, writeTextfile } from './textfile.ts'

/** Options that configure the monitoring of a run. */
export const monitoringOptions = [
  option('metrics-file <path>', 'Write metrics to this file (Prometheus textfile collector)'),
  option('otlp-endpoint <url>', 'Send metrics to this endpoint; or set OTEL_EXPORTER_OTLP_ENDPOINT'),
  option(
    'ping <url>',
    'Report start and exit code to a monitoring URL (healthchecks.io style). Set WALLETLAKE_PING_URL instead to keep the URL out of the process list',
  ),
]

export type MonitoringArguments = OptionValues<typeof monitoringOptions>

/** Reports a run to monitoring. Failures never affect the run; they are reported as notices. */
export type RunMonitor = {
  start(): void
  end(outcome: Omit<RunOutcome, 'now'>): Promise<void>
}

/** Throws USAGE for an invalid URL. The message does not show it, because it may be a secret. */
export function openRunMonitor(args: MonitoringArguments, onNotice: (notice: string) => void): RunMonitor {
  const pingUrl = pingUrlOf(args)
  const otlp = otlpTargetOf(args, onNotice)
  const warnIfFailed = async (message: string, sent: Promise<string | undefined>) => {
    const reason = await sent
    if (reason !== undefined) onNotice(`${message}: ${reason}; the run is not affected`)
  }
  let started: Promise<void> | undefined
  return {
    start: () => {
      if (pingUrl !== undefined)
        started = warnIfFailed('the start ping did not arrive', ping(pingUrl, 'start'))
    },
    end: async (outcome) => {
      const now = Date.now()
      const metrics = await updateMetricsFile({ ...outcome, now }, { path: args.metricsFile, onNotice })
      await started
      await Promise.all([
        otlp === undefined
          ? undefined
          : warnIfFailed('the metrics did not arrive', sendOtlp(otlp, metrics, now)),
        pingUrl === undefined
          ? undefined
          : warnIfFailed('the ping did not arrive', ping(pingUrl, outcome.exit)),
      ])
    },
  }
}

function pingUrlOf(args: MonitoringArguments): URL | undefined {
  const { WALLETLAKE_PING_URL: fromEnvironment = '' } = process.env
  const text = args.ping ?? fromEnvironment
  if (text === '') return undefined
  const url = parseHttpUrl(text)
  if (url !== undefined) return url
  const name = args.ping === undefined ? 'WALLETLAKE_PING_URL' : '--ping'
  throw new ExportError('USAGE', `${name}: found no http or https address`)
}

/** Throws USAGE for an invalid option. An invalid variable, which may be meant for other programs, causes a notice. */
function otlpTargetOf(args: MonitoringArguments, onNotice: (notice: string) => void): OtlpTarget | undefined {
  const target = otlpTarget(args.otlpEndpoint, process.env)
  if (target === undefined || 'url' in target) return target
  const { invalid } = target
  if (invalid.startsWith('--')) throw new ExportError('USAGE', `${invalid}: found no http or https address`)
  onNotice(`no metrics are sent: ${invalid} cannot be read`)
  return undefined
}

type MetricsFileOptions = { path: string | undefined; onNotice: (notice: string) => void }

async function updateMetricsFile(
  outcome: RunOutcome,
  { path, onNotice }: MetricsFileOptions,
): Promise<Metric[]> {
  if (path === undefined) return runMetrics(outcome)
  try {
    const metrics = runMetrics(outcome, await readTextfile(path))
    await writeTextfile(path, metrics)
    return metrics
  } catch (error) {
    onNotice(`no metrics file: ${(error as Error).message}; the run is not affected`)
    return runMetrics(outcome)
  }
}
