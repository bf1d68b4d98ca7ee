#version 330
// Lights the geometry buffer: key light with shadows, sky, bounce, lamp, infrared lamp at the camera; sky behind it all.
in vec2 place;
uniform sampler2D reflectance_map, shape_map, extra_map, shadow_map, photo_map;
uniform mat4 camera, unproject, window, sun;
uniform vec3 eye, to_sun, up;
uniform vec4 sun_light, sky_light, ground_light, lamp_light, camera_light;   // red, green, blue, near infrared
uniform vec3 lamp;
uniform float photo_turn, photo_gain, photo_leaf, photo_zoom, sky_heat, edge_cool, occlusion, softness, fog, fog_level, use_photo, wet;
uniform int samples;
layout(location = 0) out vec4 seen;
layout(location = 1) out vec4 truth;

const float PI = 3.14159265;
float rand(vec2 p) { return fract(sin(dot(p, vec2(12.9898, 78.233))) * 43758.5453); }

vec3 photo(vec3 d, float lod) {
  vec2 uv = vec2(fract(atan(d.x, d.z) / (2.0 * PI) + photo_turn), 0.5 - asin(clamp(d.y, -1.0, 1.0)) / PI);
  vec3 e = textureLod(photo_map, uv, lod).rgb;
  return exp2(e * 16.0 - 9.0) * photo_gain;
}
// Seen behind people, the panorama is drawn together: a crop spans few of its pixels.
vec3 behind(vec3 d) {
  vec3 ahead = -vec3(camera[0][2], camera[1][2], camera[2][2]);
  return photo(normalize(ahead + photo_zoom * (d / dot(d, ahead) - ahead)), 0.0);
}
// Plants shine in the near infrared and skies are dark, as far as a colour tells them.
float infrared(vec3 c) {
  float grey = dot(c, vec3(0.5, 0.35, 0.15));
  float leaf = smoothstep(1.02, 1.25, c.g / max(max(c.r, c.b), 1e-4)), blue = smoothstep(1.05, 1.5, c.b / max(c.r, 1e-4));
  return grey * mix(1.0, photo_leaf, leaf) * mix(1.0, 0.55, blue);
}
vec3 ray(vec2 p) {
  vec4 far = unproject * vec4(p * 2.0 - 1.0, 0.5, 1.0);
  return normalize(far.xyz / far.w - eye);
}

void main() {
  vec4 extra = texture(extra_map, place), shape = texture(shape_map, place);
  vec3 d = ray(place);
  if (shape.w <= 0.0) {
    vec3 c = use_photo > 0.5 ? behind(d) : sky_light.rgb * (0.6 + 0.8 * max(d.y, 0.0));
    float r = use_photo > 0.5 ? infrared(c) : sky_light.a * 0.5;
    seen = clamp(vec4(mix(c, vec3(fog_level), fog), mix(r, fog_level, fog * 0.7)), 0.0, 60.0); truth = vec4(sky_heat, 0.0, 0.0, 1.0); return;
  }
  vec4 a = texture(reflectance_map, place);
  vec3 n = normalize(shape.xyz);
  vec3 axis = vec3(camera[0][2], camera[1][2], camera[2][2]);
  vec3 world = eye + d * (shape.w / max(dot(-axis, d), 1e-3));
  float code = extra.z; bool catcher = code > 7.5; int owner = int(code - (catcher ? 8.0 : 0.0) + 0.5);

  // Shadow of the key light, softened.
  vec4 s = sun * vec4(world + n * 0.12, 1.0); vec3 q = s.xyz * 0.5 + 0.5; float lit = 1.0;
  if (all(lessThan(abs(q - 0.5), vec3(0.5)))) {
    lit = 0.0; float turn = rand(gl_FragCoord.xy) * 6.28;
    for (int i = 0; i < 8; i++) {
      float t = turn + float(i) * 2.4; float rad = softness * sqrt((float(i) + 0.5) / 8.0);
      lit += float(texture(shadow_map, q.xy + rad * vec2(cos(t), sin(t))).r > q.z - 0.0025);
    }
    lit /= 8.0;
  }
  // Ambient occlusion from the distances around.
  float closed = 0.0; float spin = rand(gl_FragCoord.yx) * 6.28;
  for (int i = 0; i < samples; i++) {
    float t = spin + float(i) * 2.4, rad = occlusion * sqrt((float(i) + 0.5) / float(samples));
    vec3 tangent = normalize(abs(n.y) < 0.9 ? cross(n, vec3(0,1,0)) : cross(n, vec3(1,0,0))), other = cross(n, tangent);
    vec3 probe = world + n * rad * 0.7 + (tangent * cos(t) + other * sin(t)) * rad;
    vec4 at = camera * vec4(probe, 1.0); vec4 clip = window * at; vec2 p = clip.xy / clip.w * 0.5 + 0.5;
    float there = texture(shape_map, p).w, here = -at.z;
    if (there > 0.0 && there < here - 0.05) closed += smoothstep(occlusion * 3.0, occlusion, here - there);
  }
  float open = (1.0 - 0.85 * closed / float(samples)) * (1.0 - extra.w);

  float key = max(dot(n, to_sun), 0.0) * lit, sky = 0.5 + 0.5 * n.y;
  vec3 to_lamp = lamp - world; float far = length(to_lamp); to_lamp /= far;
  float near = max(dot(n, to_lamp), 0.0) / (1.0 + far * far * 0.002);
  float front = max(dot(n, -d), 0.0) / (1.0 + shape.w * shape.w * 0.00012);
  vec4 light = sun_light * key + (sky_light * sky + ground_light * (1.0 - sky)) * open + lamp_light * near * (0.4 + 0.6 * open) + camera_light * front * (0.5 + 0.5 * open);
  vec4 out_ = a * light;
  if (catcher) {
    // The photograph is the ground; people take light from it.
    vec3 c = behind(d); float dim = mix(0.35 + 0.65 * lit, 1.0, 0.25) * (0.35 + 0.65 * open); out_ = vec4(c, infrared(c)) * dim;
  }
  vec3 half_ = normalize(to_sun - d); float shiny = extra.y;
  if (wet > 0.0 && owner == 0 && n.y > 0.8) shiny = max(shiny, wet);
  if (shiny > 0.0) {
    vec3 mirror = reflect(d, n); float fresnel = shiny * (0.25 + 0.75 * pow(1.0 - max(dot(n, -d), 0.0), 3.0));
    vec3 c = use_photo > 0.5 ? photo(mirror, 3.0) : sky_light.rgb * (0.4 + 0.9 * max(mirror.y, 0.0));
    out_.rgb = mix(out_.rgb, c, fresnel) + sun_light.rgb * shiny * 0.6 * pow(max(dot(n, half_), 0.0), 24.0) * lit;
    out_.a = mix(out_.a, infrared(c), fresnel);
  }
  float haze = fog * (1.0 - exp(-shape.w * 0.012));
  float facing = max(dot(n, -d), 0.0), h = extra.x;
  if (owner == 1 || owner == 2) h -= edge_cool * (1.0 - facing) * (1.0 - facing);
  seen = clamp(vec4(mix(out_.rgb, vec3(fog_level), haze), mix(out_.a, fog_level, haze * 0.8)), 0.0, 60.0);
  truth = vec4(h, float(owner == 1), float(owner == 2), float(owner == 0));
}
