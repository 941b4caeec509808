/** Words that generated records consist of. None is the name of a real person, company or bank. */

const words = (list: string): readonly string[] => list.split(', ');

export const FIRST_NAMES = words(
  'Anna, Bram, Chiara, Daan, Elif, Femke, Goran, Hanna, Ines, Jonas, Katarzyna, Lars, Maja, Noor, Oskar, Pilar, Quentin, Roos, Søren, Tomás, Ümit, Vera, Wouter, Yara, Zoë',
);
export const LAST_NAMES = words(
  'Adler, Bakker, Costa, de Boer, Eriksen, Fontaine, García, Hoekstra, Ivanova, Jansen, Kowalski, Lindqvist, Meier, Nowak, Olsen, Peeters, Quist, Rossi, Şahin, Tóth, Ullmann, van Dijk, Weber, Zając',
);
export const FIRM_STEMS = words(
  'Northwind, Blauwberg, Silverline, Oakfield, Kanaal, Lindenhof, Meridiaan, Brightwater, Polder, Stellar, Anker, Copper & Pine, Zonnehof, Granite, Waterkant, Helder, Maple, Noordzee, Tulip, Vesting',
);
export const FIRM_TRADES = words(
  'Trading, Logistics, Interiors, Foods, Bouw, Consulting, Electronics, Textiles, Hardware, Studio, Energie, Packaging',
);
export const LEGAL_FORMS = words('B.V., N.V., GmbH, S.r.l., Ltd, AB, VOF');
export const STREETS = words(
  'Kerkstraat, Stationsweg, Mill Lane, Hauptstraße, Rue du Moulin, Industrieweg, Oude Gracht, High Street, Lindenallee, Via Roma, Havenkade, Calle Mayor',
);
/** City, postal code as a pattern of digits, country. */
export const CITIES = [
  ['Utrecht', '#### UT', 'NL'],
  ['Groningen', '#### GR', 'NL'],
  ['Eindhoven', '#### EH', 'NL'],
  ['Gent', '####', 'BE'],
  ['Leuven', '####', 'BE'],
  ['Münster', '#####', 'DE'],
  ['Leipzig', '#####', 'DE'],
  ['Lyon', '#####', 'FR'],
  ['Torino', '#####', 'IT'],
  ['Malmö', '### ##', 'SE'],
] as const;
export const CURRENCIES = words('EUR, EUR, EUR, EUR, USD, GBP, SEK');
export const ROLES = words('Owner, Bookkeeper, Purchasing, Sales, Warehouse, Finance director');
export const PROJECTS = words(
  'Website relaunch, Warehouse move, Annual audit, Support retainer, Store fitting, Data migration',
);
/** Key of a setting, its values. */
export const SETTINGS = [
  ['invoiceLanguage', ['nl', 'en', 'de', 'fr']],
  ['invoiceDelivery', ['email', 'peppol', 'post']],
  ['reminderAfterDays', ['7', '14', '30']],
  ['priceList', ['retail', 'wholesale', 'partner']],
] as const;
export const BUDGET_POSTS = words('Rent, Travel, Software, Training, Freight');
/** Name, code in an IBAN. */
export const BANKS = [
  ['Bank van de Delta', 'DELT'],
  ['Handelsbank Noord', 'HDNO'],
  ['Oranje Krediet', 'ORKR'],
  ['Cooperatie De Brug', 'CDBG'],
] as const;

export const ADJECTIVES = words('Compact, Classic, Solid, Light, Modular, Nordic, Urban, Eco, Robust, Slim');
export const MATERIALS = words(
  'oak, steel, walnut, aluminium, ash, glass, bamboo, linen, ceramic, recycled plastic',
);
/** Noun, HS code. */
export const GOODS = [
  ['desk', '940330'],
  ['chair', '940179'],
  ['shelf', '940389'],
  ['lamp', '940521'],
  ['cabinet', '940360'],
  ['table', '940360'],
  ['hinge', '830210'],
  ['screw set', '731815'],
  ['panel', '441890'],
  ['drawer', '940399'],
  ['bracket', '830250'],
  ['vase', '691390'],
] as const;
export const BRANDS = words('Oakline, Ferro, Lumo, Nordhus, Basis, Kant & Klaar');
export const COLORS = words('white, black, anthracite, natural, sage, ochre, cobalt');
export const TAGS = words('new, bestseller, seasonal, clearance, b2b, fragile, heavy');
