const isOn = (): boolean => document.querySelector<HTMLInputElement>('input[data-do=links]')?.checked ?? false

/** Lets the reader switch the links to explorers off, and on again. */
export function switchLinks(): void {
  document.querySelector('input[data-do=links]')?.addEventListener('change', () => applySwitch(document))
}

/** Removes the addresses of links if they are switched off, or restores them. */
export function applySwitch(part: ParentNode): void {
  for (const link of part.querySelectorAll<HTMLAnchorElement>('a.explorer')) {
    const address = link.getAttribute('href') ?? link.dataset.href ?? ''
    link.dataset.href = address
    if (isOn()) link.href = address
    else link.removeAttribute('href')
  }
}

/** A link to an explorer, or only its text if the explorer is unknown. */
export function explorerLink(address: string, content: Node | string, title: string): HTMLElement {
  const link = document.createElement(address === '' ? 'span' : 'a')
  link.title = title
  link.append(content)
  if (!(link instanceof HTMLAnchorElement)) return link
  link.className = 'explorer'
  link.rel = 'noreferrer'
  link.target = '_blank'
  link.href = address
  return link
}
