import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { optionFilter } from './option-filter.ts';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => {
    app.component('option-filter', optionFilter);
  },
} satisfies Theme;
