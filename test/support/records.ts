/** A product as the service returns it. */
export const product = {
  id: '42',
  createdAt: '2026-01-31T12:00:00Z',
  updatedAt: '2026-01-31T12:00:00Z',
  name: 'Desk',
  salePrice: '129.0000',
  stockQuantity: 7,
  isInactive: false,
  tags: ['oak'],
} as const;

export const productJson = JSON.stringify(product);
