/** Parts of check names that several statements share. */
export const SEGMENTS = 'is 200 with an array of records that have a string id';
export const ONE = 'is 200 with the record of that id';
export const MONEY = 'money is a decimal string, in lists and in single records';
export const EVERY_FIELD = 'every field of the table is in every product, in its type';
export const SET_FIELD = 'every field can be set by create and by update, and is kept';
export const REFUSED_KEYS = [
  'without the header is 401',
  'unknown key is 401',
  'empty key is 401',
  'malformed key is 401',
  'something behind it is 401',
];
