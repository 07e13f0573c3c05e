// The script of a report page. It lists transactions, sorts and saves tables, and switches links off. It makes no requests.
import { openActivity } from './activity-list.ts'
import { fillDetails } from './fill-details.ts'
import { applySwitch, switchLinks } from './links.ts'
import type { PageMessages } from './messages.ts'
import { enhanceTables, printAllRows } from './tables.ts'

const messages = JSON.parse(document.getElementById('messages')?.textContent ?? '') as PageMessages
enhanceTables(document, messages)
switchLinks()
fillDetails((part) => {
  enhanceTables(part, messages)
  applySwitch(part)
})
printAllRows()
for (const section of document.querySelectorAll<HTMLElement>('section[data-activity]'))
  void openActivity(section, messages)
