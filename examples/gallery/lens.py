"""The best form of a lens

Rays are traced exactly through two spherical surfaces. How should a lens of fixed power be bent so that rays far
from the axis meet in the same point as those near it? The gradient, back through Snell's law, bends it. Theory for
thin lenses says a shape factor of 0.714 for glass of index 1.5; a lens with some thickness comes near it, and the
focal length agrees with the lensmaker's equation.
"""

import math
import sys

import retrograd as rg
from retrograd.math import atan2, cos, sin, sqrt, tan

INDEX, THICKNESS, FOCUS = 1.5, 0.5, 50.0
HEIGHTS = [0.5 + 0.75 * k for k in range(8)]


def refract(height, slope, curvature, before, after):
    """A ray (height at the vertex plane, angle) through a sphere: where it meets it, and where it goes on."""
    # Along the ray, x = t cos, y = height + t sin, to the sphere through the origin: c (x² + y²) = 2 x.
    along = cos(slope) - curvature * height * sin(slope)
    sag = curvature * height * height / (along + sqrt(along * along - curvature * curvature * height * height))
    x, y = sag * cos(slope), height + sag * sin(slope)
    normal = atan2(curvature * y, 1 - curvature * x)
    inside = before / after * sin(slope + normal)
    turned = atan2(inside, sqrt(1 - inside * inside)) - normal
    return y - x * tan(turned), turned  # back to the vertex plane, along the new direction


def crossing(height, front, back):
    """How far behind the lens a ray crosses the axis."""
    y, slope = refract(height, 0.0 * front, front, 1.0, INDEX)
    y, slope = refract(y + THICKNESS * tan(slope), slope, back, INDEX, 1.0)
    return -y / tan(slope)


def curvatures(shape):
    """Front and back of a lens of the wanted focal length, bent by the shape factor (thick lensmaker's equation)."""
    total = 1 / (FOCUS * (INDEX - 1))
    for _ in range(20):  # the thickness changes the power a little
        front, back = total * (shape + 1) / 2, total * (shape - 1) / 2
        power = (INDEX - 1) * (front - back + (INDEX - 1) * THICKNESS * front * back / INDEX)
        total = total / (power * FOCUS)
    return front, back


def blur(shape):
    """How far the rays' crossings are from each other, weighed by the light they carry."""
    front, back = curvatures(shape)
    near = crossing(0.01, front, back)
    return rg.sum([(crossing(h, front, back) - near) ** 2 * h for h in HEIGHTS]) / sum(HEIGHTS)


def main(picture=""):
    shape = 0.0
    for _ in range(30):  # Newton's method on the gradient
        shape = shape - rg.grad(blur)(shape) / rg.grad(rg.grad(blur))(shape)
    difference = (blur(shape + 0.1 + 1e-6) - blur(shape + 0.1 - 1e-6)) / 2e-6
    assert abs(rg.grad(blur)(shape + 0.1) - difference) < 1e-6 * abs(difference)
    thin = 2 * (INDEX * INDEX - 1) / (INDEX + 2)
    print(f"best shape factor {shape:.3f}; for a thin lens the theory of the third order says {thin:.3f}")
    assert abs(shape - thin) < 0.03
    front, back = curvatures(shape)
    principal = crossing(1e-4, front, back) + FOCUS * (INDEX - 1) * THICKNESS * front / INDEX
    print(f"focal length {principal:.6f}, by the lensmaker's equation {FOCUS}")
    assert abs(principal - FOCUS) < 1e-6
    print(f"the blur is {math.sqrt(blur(-1.0) / blur(shape)):.1f} times as long with the flat side to the light")
    if picture:
        draw(picture, shape)


def draw(path, best):
    from matplotlib import pyplot

    _, (left, right) = pyplot.subplots(1, 2, figsize=(8, 3), width_ratios=(1, 1.4))
    shapes = [-1.5 + 0.1 * k for k in range(36)]
    left.plot(shapes, [math.sqrt(blur(shape)) for shape in shapes])
    left.plot(best, math.sqrt(blur(best)), "o", color="C1")
    left.set(xlabel="shape factor", title="length of the focus (mm)", ylim=(0, None))
    for shape, side, colour in ((best, 1, "C0"), (-1.0, -1, "C1")):
        for height in HEIGHTS:
            where = crossing(height, *curvatures(shape))
            right.plot(
                [where - 6, where + 3],
                [side * 6 * height / where, -side * 3 * height / where],
                color=colour,
                linewidth=0.8,
            )
    right.set(xlabel="mm behind the lens", title="rays near the focus: best form above, flat side first below")
    right.title.set_fontsize(8)
    pyplot.savefig(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
