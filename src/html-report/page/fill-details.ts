/**
 * Adds the content of details when they are opened, and of all of them before the page is printed. `prepare` is called with
 * each of them once.
 */
export function fillDetails(prepare: (part: ParentNode) => void): void {
  const fill = (details: Element) => {
    const template = details.querySelector(':scope > template')
    if (!(template instanceof HTMLTemplateElement)) return
    template.replaceWith(template.content)
    prepare(details)
    watch(details)
  }
  const watch = (part: ParentNode) => {
    for (const details of part.querySelectorAll('details.lazy'))
      details.addEventListener('toggle', () => fill(details))
  }
  watch(document)
  addEventListener('beforeprint', () => {
    // The content of details can contain further ones.
    for (let left = openLeft(); left.length > 0; left = openLeft()) for (const details of left) fill(details)
  })
}

const openLeft = (): Element[] =>
  [...document.querySelectorAll('details.lazy')].filter(
    (one) => one.querySelector(':scope > template') !== null,
  )
