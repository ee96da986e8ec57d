/** What the webhook writes, with one excluded port in each direction. */
export const environment = {
  PROXY_PORT: '15123',
  INBOUND_PROXY_PORT: '15124',
  ADMIN_PORT: '9901',
  HEALTH_PORT: '15125',
  PROXY_UID: '1337',
  OUTBOUND_PORTS_EXCLUDE: '5432',
  INBOUND_PORTS_EXCLUDE: '9000',
} as const;
