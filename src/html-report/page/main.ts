// The script of a report's page: it sorts tables, compares dates, and unpacks, searches and shows the rows. It asks nobody for anything.
import { compareDates } from './compare-dates.ts'
import { openRowList } from './row-list.ts'
import { sortTables } from './sort-tables.ts'

sortTables(document)
for (const section of document.querySelectorAll<HTMLElement>('section[data-rows]')) void openRowList(section)
for (const section of document.querySelectorAll<HTMLElement>('section[data-compare]')) compareDates(section)
