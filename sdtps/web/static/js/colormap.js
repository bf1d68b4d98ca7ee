// Colour tables of 256 entries, and values → colours.

function makeColourMaps(packedTables) {
  const tables = {};
  for (const [name, packed] of Object.entries(packedTables)) tables[name] = unpackBytes(packed);
  return tables;
}

function colourIndex(value, [low, high]) {
  if (!(high > low)) return 0;
  return Math.max(0, Math.min(255, Math.round(((value - low) / (high - low)) * 255)));
}

function cssGradient(table) {
  const stops = [];
  for (let i = 0; i <= 255; i += 15) stops.push(`rgb(${table[i * 3]},${table[i * 3 + 1]},${table[i * 3 + 2]})`);
  return `linear-gradient(to right, ${stops.join(',')})`;
}
