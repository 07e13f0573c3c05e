export type Parsed = Record<
  string,
  { help: string; type: string; samples: [labels: Record<string, string>, value: number][] }
>

/**
 * Parses the Prometheus text format according to its specification (prometheus.io, "Exposition formats", version 0.0.4),
 * independently of the program. Throws for everything that a scraper would reject: a sample without HELP or TYPE before
 * it, a second HELP, a duplicate sample, an invalid name or escape, a last line without a line feed.
 */
export function parseTextfile(text: string): Parsed {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line has no end')
  const metrics: Parsed = {}
  const seen = new Set<string>()
  for (const line of text.split('\n').slice(0, -1)) {
    const [hash, word, name = '', ...rest] = line.split(' ')
    if (hash !== '#') takeSample(line, metrics, seen)
    else if (word === 'HELP') addHelp(metrics, name, rest.join(' '))
    else if (word === 'TYPE') metricNamed(metrics, name).type = rest.join(' ')
    else throw new Error(`a comment: ${line}`)
  }
  return metrics
}

function addHelp(metrics: Parsed, name: string, help: string): void {
  if (name in metrics) throw new Error(`a second HELP of ${name}`)
  metrics[name] = { help, type: '', samples: [] }
}

function metricNamed(metrics: Parsed, name: string) {
  const metric = metrics[name]
  if (metric === undefined) throw new Error(`no HELP of ${name}`)
  return metric
}

function takeSample(line: string, metrics: Parsed, seen: Set<string>): void {
  const [name = ''] = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line) ?? []
  const metric = metricNamed(metrics, name)
  if (metric.type !== 'gauge') throw new Error(`no TYPE of ${name}`)
  const { labels, end } = takeLabels(line, name.length)
  const key = `${name}${JSON.stringify(labels)}`
  if (seen.has(key)) throw new Error(`a sample stands twice: ${key}`)
  seen.add(key)
  const value = line.slice(end)
  if (!/^ \S+$/.test(value) || Number.isNaN(Number(value))) throw new Error(`no value: ${line}`)
  metric.samples.push([labels, Number(value)])
}

function takeLabels(line: string, start: number): { labels: Record<string, string>; end: number } {
  const labels: Record<string, string> = {}
  if (line[start] !== '{') return { labels, end: start }
  let at = start + 1
  while (line[at] !== '}') {
    const [whole = '', name = ''] = /^([a-zA-Z_]\w*)="/.exec(line.slice(at)) ?? []
    if (name === '' || name in labels) throw new Error(`a label at ${at}: ${line}`)
    at += whole.length
    let value = ''
    for (; line[at] !== '"'; at += 1) {
      if (at >= line.length) throw new Error(`an open label: ${line}`)
      value += line[at] === '\\' ? unescaped(line[++at]) : line[at]
    }
    labels[name] = value
    at += line[at + 1] === ',' ? 2 : 1
  }
  return { labels, end: at + 1 }
}

function unescaped(char: string | undefined): string {
  if (char === 'n') return '\n'
  if (char === '\\' || char === '"') return char
  throw new Error(`an escape \\${char}`)
}
