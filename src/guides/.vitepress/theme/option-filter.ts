import { defineComponent, h, ref, watch } from 'vue';

/** The elements from a heading to the next one of its level or above. */
function sectionOf(heading: Element): Element[] {
  const section = [heading];
  for (let next = heading.nextElementSibling; next !== null; next = next.nextElementSibling) {
    if (/^H[123]$/.test(next.tagName)) break;
    section.push(next);
  }
  return section;
}

/** A field that hides the options, faults and conditions of the page that do not contain what is typed. */
export const optionFilter = defineComponent(() => {
  const text = ref('');
  watch(text, (value) => {
    for (const heading of document.querySelectorAll('.vp-doc h3')) {
      const section = sectionOf(heading);
      const content = section.map(({ textContent }) => textContent).join(' ');
      const isHidden = !content.toLowerCase().includes(value.trim().toLowerCase());
      for (const element of section) element.toggleAttribute('hidden', isHidden);
    }
  });
  return () =>
    h('input', {
      class: 'option-filter',
      type: 'search',
      placeholder: 'Filter',
      'aria-label': 'Filter the options',
      onInput: ({ target }: Event) => {
        text.value = (target as HTMLInputElement).value;
      },
    });
});
