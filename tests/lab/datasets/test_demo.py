import numpy as np

from likewise.lab.datasets import load_demo


def test_the_demonstration_needs_no_download_and_has_pictures():
    demo = load_demo()
    assert demo.name == "digits"
    assert demo.X.shape == (1797, 64)
    assert demo.X.dtype == np.float64
    assert (demo.X.min(), demo.X.max()) == (0, 1)
    assert demo.images.shape == (1797, 8, 8)
    assert demo.images.dtype == np.uint8
    assert demo.n_classes == 10
    assert demo.target_names[3] == "3"
    assert demo.texts is None


def test_its_pictures_show_dark_ink_on_white():
    demo = load_demo()
    np.testing.assert_allclose(demo.images.reshape(1797, 64), 255 * (1 - demo.X), atol=0.5)
