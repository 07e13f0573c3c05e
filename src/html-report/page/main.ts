// The script of a report page. It sorts tables, compares dates, and unpacks, searches and shows rows. It makes no
// requests.
import { compareDates } from './compare-dates.ts'
import { openRowList } from './row-list.ts'
import { sortTables } from './sort-tables.ts'

sortTables(document)
for (const section of document.querySelectorAll<HTMLElement>('section[data-rows]')) void openRowList(section)
for (const section of document.querySelectorAll<HTMLElement>('section[data-compare]')) compareDates(section)
