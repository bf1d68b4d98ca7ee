#version 330
// Paints a surface into the geometry buffer: reflectance in four bands, normal, distance, warmth, owner.
in vec3 world; in vec3 normal; in vec3 rest; in vec2 fit; in vec4 paint; in float distance_;
uniform int kind, pattern, detail, owner;
uniform vec3 colour, second, stretch, eye;
uniform float nir, second_nir, heat, period, duty, phase, wrinkle, grain, loose_cool, heat_folds, gloss, seed;
layout(location = 0) out vec4 reflectance;
layout(location = 1) out vec4 shape;
layout(location = 2) out vec4 extra;

float hash(vec3 p) { p = fract(p * 0.3183099 + 0.1 + seed * 0.013); p *= 17.0; return fract(p.x * p.y * p.z * (p.x + p.y + p.z)); }
float noise(vec3 x) {
  vec3 i = floor(x), f = fract(x); f = f * f * (3.0 - 2.0 * f);
  return mix(mix(mix(hash(i), hash(i + vec3(1,0,0)), f.x), mix(hash(i + vec3(0,1,0)), hash(i + vec3(1,1,0)), f.x), f.y),
             mix(mix(hash(i + vec3(0,0,1)), hash(i + vec3(1,0,1)), f.x), mix(hash(i + vec3(0,1,1)), hash(i + vec3(1,1,1)), f.x), f.y), f.z);
}
float cloud(vec3 p) { return noise(p) * 0.55 + noise(p * 2.3 + 5.0) * 0.3 + noise(p * 5.1 + 9.0) * 0.15; }

// Folds: soft swellings with sharper valleys, drawn out along the cloth; deeper where a joint bends it.
float folds(vec3 p) {
  vec3 q = p * stretch + seed;
  q += 1.1 * vec3(noise(q * 0.6), noise(q * 0.6 + 11.0), noise(q * 0.6 + 23.0));
  float broad = noise(q);
  float ridge = 1.0 - abs(noise(q * 1.7 + 7.0) * 2.0 - 1.0);
  vec3 bent = vec3(p.x * 0.9, p.y * 3.6, p.z * 0.9) + 1.4 * noise(p * 1.3 + seed);
  float creased = 1.0 - abs(noise(bent) * 2.0 - 1.0);
  return broad * 0.55 + ridge * ridge * 0.35 + fit.y * creased * 0.7;
}

float cover() {
  float along = rest.y / period + phase, across = (rest.x + 0.6 * rest.z) / period + phase;
  if (pattern == 1) return float(fract(along) < duty);
  if (pattern == 2) return float(fract(across) < duty);
  if (pattern == 3) return 0.5 * float(fract(along) < duty) + 0.5 * float(fract(across) < duty);
  if (pattern == 4) return float(sin(along * 2.1) + sin(across * 2.7 + along) + 1.6 * (noise(rest * 2.0) - 0.5) > 1.2 - duty);
  if (pattern == 5) return float(rest.y > 3.0 + phase * 1.6);
  if (pattern == 6) return float(noise(rest / period * 0.6) > 0.8 - duty * 0.6);
  if (pattern == 7) { vec2 q = vec2(rest.x, rest.y - 3.6 - phase * 0.5); return float(rest.z > 0.2 && abs(q.x) < 0.8 && abs(q.y) < 0.6 && noise(vec3(q * 4.0, seed)) > 0.42); }
  if (pattern == 8) { vec2 q = vec2(rest.x, rest.y - 3.4); return float(rest.z < -0.1 && abs(q.x) < 1.0 && abs(q.y) < 0.5 && noise(vec3(q * 3.5, seed)) > 0.45); }
  if (pattern == 9) return float(abs(rest.x) > 1.75 && rest.y > 0.0);
  return 0.0;
}

void main() {
  vec3 n = normalize(normal);
  vec3 view = normalize(eye - world);
  if (!gl_FrontFacing) n = -n;
  vec3 c = colour; float r = nir; float h = heat + paint.w - loose_cool * fit.x; float hollow = 0.0, shine = gloss;

  if (kind == 1 || kind == 12) {
    float share = cover();
    c = mix(c, second, share); r = mix(r, second_nir, share);
    if (wrinkle > 0.0) {
      float e = 0.05, w = folds(rest);
      vec3 g = vec3(folds(rest + vec3(e,0,0)) - w, folds(rest + vec3(0,e,0)) - w, folds(rest + vec3(0,0,e)) - w) / e;
      n = normalize(n - wrinkle * 0.42 * (g - dot(g, n) * n));
      hollow = clamp((0.62 - w) * wrinkle * 1.1, 0.0, 0.5);
      h += heat_folds * (0.6 * (noise(rest * stretch * 1.1 + seed) - 0.5) + 0.7 * (0.55 - w));
    }
    if (kind == 12) {
      float q = fract(rest.y / 0.62 + phase), seam = smoothstep(0.0, 0.2, q) * smoothstep(1.0, 0.8, q);
      n = normalize(n + vec3(0.0, (q - 0.5) * 0.9 * (1.0 - 0.5 * seam), 0.0));
      hollow = max(hollow, 0.45 * (1.0 - seam)); h += 0.05 * (0.5 - seam);
    }
    if ((detail & 1) != 0 && rest.z > 0.3 && abs(rest.x) < 0.045 && rest.y > -1.5) { c *= 0.45; hollow = max(hollow, 0.3); h += 0.03; }
    if ((detail & 4) != 0 && abs(rest.z - 0.1) < 0.16) { c = second; r = second_nir; }
    if ((detail & 8) != 0) {
      vec2 q = abs(vec2(abs(rest.x) - 0.85, rest.y - 1.2)) - vec2(0.42, 0.4);
      float edge = abs(max(q.x, q.y));
      if (edge < 0.035) { c *= 0.6; hollow = max(hollow, 0.25); }
    }
    if ((detail & 16) != 0 && abs(rest.y - 1.25) < 0.13) { c = vec3(0.02, 0.018, 0.015); r *= 0.7; }
    float weave = noise(rest * 26.0) - 0.5, wear = cloud(rest * 1.1 + seed) - 0.5;
    c *= 1.0 + grain * 1.6 * weave + 0.28 * wear; r *= 1.0 + grain * weave + 0.16 * wear;
    h += 0.03 * wear;
  } else if (kind == 2) {
    float blotch = cloud(rest * 2.4) - 0.5;
    c *= paint.rgb * (1.0 + vec3(0.25, 0.12, 0.1) * blotch); r *= (0.35 + 0.65 * paint.g) * (1.0 + 0.15 * blotch);
    h += 0.06 * blotch; shine = 0.03;
  } else if (kind == 3) {
    float strand = noise(vec3(rest.x * 11.0, rest.y * 1.6, rest.z * 11.0)) - 0.5, lock = cloud(rest * vec3(3.2, 0.9, 3.2)) - 0.5;
    float facing = abs(dot(n, view));
    if (fit.x > 0.02 && facing < 0.4 * fit.x + 0.14 && noise(rest * vec3(15.0, 4.0, 15.0)) > 0.28 + facing * 1.9) discard;
    c *= paint.rgb * (1.0 + 0.9 * strand + 0.5 * lock); r *= 1.0 + 0.5 * strand + 0.4 * lock;
    n = normalize(n + 0.5 * vec3(strand, 0.3 * lock, strand)); hollow = clamp(-lock, 0.0, 0.4); h += 0.1 * lock; shine = 0.06;
  } else if (kind == 4) {
    float coarse = cloud(world * 0.35 + seed) - 0.5, fine = noise(world * 6.0) - 0.5, grit = noise(world * 17.0) - 0.5;
    float crack = smoothstep(0.02, 0.0, abs(noise(world * 0.22 + 0.6 * noise(world * 0.9)) - 0.5)) * step(0.6, noise(world * 0.07 + 3.0));
    float lines = pattern == 1 ? smoothstep(0.5, 0.42, abs(fract(rest.x / period + phase) - 0.5) * 2.0 / max(duty, 0.05) * 0.5) : 0.0;
    float worn = 1.0 - 0.5 * smoothstep(0.45, 0.75, cloud(world * 0.9 + 31.0));
    c = mix(c, second, lines * worn); r = mix(r, second_nir, lines * worn);
    float k = 1.0 + 0.5 * coarse + grain * (fine + grit) - 0.4 * crack;
    c *= k; r *= k; h += 0.04 * coarse; n = normalize(n + 0.12 * vec3(fine, 0.0, grit));
  } else if (kind == 5) {
    vec2 q = rest.xz / period; q.x += 0.5 * mod(floor(q.y), 2.0) * duty;
    vec2 id = floor(q), f = abs(fract(q) - 0.5);
    float joint = smoothstep(0.455, 0.485, max(f.x, f.y)), tone = hash(vec3(id, 3.0)) - 0.5;
    float coarse = cloud(world * 0.5 + seed) - 0.5, fine = noise(world * 9.0) - 0.5;
    c = mix(c, second, step(0.5, hash(vec3(id, 8.0))) * float(pattern == 1));
    float k = (1.0 + 0.3 * tone + 0.3 * coarse + grain * fine) * (1.0 - 0.55 * joint);
    c *= k; r *= k; hollow = 0.4 * joint; h += 0.05 * coarse - 0.02 * joint;
  } else if (kind == 6) {
    float tuft = noise(world * vec3(4.0, 9.0, 4.0)) , blade = noise(world * vec3(15.0, 4.0, 15.0)), patchy = cloud(world * 0.3 + seed);
    float k = 0.35 + 0.8 * tuft * blade + 0.9 * blade * blade * tuft + 0.5 * (patchy - 0.5);
    c = mix(c, second, smoothstep(0.55, 0.75, patchy)) * k * 1.3; r *= k * 1.25;
    n = normalize(n + 0.8 * vec3(tuft - 0.5, 0.0, blade - 0.5)); h += 0.08 * (patchy - 0.5) + 0.04 * (blade - 0.5); hollow = 0.5 * (1.0 - k);
  } else if (kind == 7) {
    vec2 q = vec2(rest.x, rest.y) / vec2(period, period * (0.7 + duty)); vec2 id = floor(q), f = fract(q);
    float pane = step(0.14, f.x) * step(f.x, 0.86) * step(0.18, f.y) * step(f.y, 0.88), bar = step(abs(f.x - 0.5), 0.018) + step(abs(f.y - 0.6), 0.014);
    float edge = pane * (1.0 - step(0.17, f.x) * step(f.x, 0.83) * step(0.2, f.y) * step(f.y, 0.86));
    float tone = hash(vec3(id, 1.0)); float stain = cloud(world * 0.25 + seed) - 0.5, fine = noise(world * 5.0) - 0.5;
    float k = 1.0 + 0.35 * stain + grain * fine; c *= k; r *= k; h += 0.06 * stain;
    if (pane > 0.5 && pattern != 2) {
      c = mix(second * (0.3 + tone), vec3(0.75, 0.78, 0.8), float(edge + bar > 0.5)); r = mix(second_nir * (0.3 + tone), 0.7, float(edge + bar > 0.5));
      shine = 0.35; h += 0.06 * (tone - 0.3);
    }
  } else if (kind == 8) {
    float leaf = noise(rest * 7.0), clump = cloud(rest * 1.3 + seed);
    if (fit.x > 0.0 && leaf * 0.55 + clump * 0.45 < fit.x * 0.6) discard;
    float k = 0.25 + 1.1 * leaf * leaf + 0.5 * clump; c = mix(c, second, leaf) * k; r *= 0.4 + 0.7 * k;
    n = normalize(n + 1.6 * vec3(leaf - 0.5, noise(rest * 7.0 + 5.0) - 0.5, noise(rest * 7.0 + 9.0) - 0.5)); hollow = 0.6 * (1.0 - clump); h += 0.1 * (clump - 0.5);
  } else if (kind == 9) {
    float glass = step(8.2, rest.y) * step(rest.y, 12.6) * step(0.35, abs(fract(rest.z / 10.0) - 0.5) * 2.0 + 0.3);
    c = mix(c * (1.0 + 0.1 * (cloud(rest) - 0.5)), vec3(0.015, 0.02, 0.025), glass); r = mix(r, 0.05, glass); shine = mix(0.25, 0.6, glass);
    if (rest.y < 3.0) { c = vec3(0.015); r = 0.05; shine = 0.0; }
  } else if (kind == 11) {
    vec2 q = vec2(rest.x / (period * 2.2), rest.y / period); q.x += 0.5 * mod(floor(q.y), 2.0);
    vec2 id = floor(q), f = abs(fract(q) - 0.5); float mortar = max(smoothstep(0.46, 0.49, f.x), smoothstep(0.4, 0.46, f.y));
    float k = (1.0 + 0.5 * (hash(vec3(id, 2.0)) - 0.5) + 0.3 * (cloud(world * 0.4) - 0.5) + grain * (noise(world * 8.0) - 0.5));
    c = mix(c * k, second, mortar); r = mix(r * k, second_nir, mortar); h += 0.05 * (cloud(world * 0.4) - 0.5);
  } else {
    float wear = cloud(rest * 1.5 + seed) - 0.5; c *= paint.rgb * (1.0 + 0.3 * wear + grain * (noise(rest * 20.0) - 0.5)); r *= 1.0 + 0.2 * wear; h += 0.04 * wear;
  }
  reflectance = vec4(max(c, 0.002), max(r, 0.004));
  shape = vec4(n, distance_);
  extra = vec4(h, shine, float(owner) + (kind == 10 ? 8.0 : 0.0), hollow);
}
